// Transforms of 2^M rows in registers and shared memory, 2^M / 8 threads a column, with the inverse root.
#pragma once
#include "../field/fr_memory.cuh"

namespace cuzk {

// Columns a block works on, as a power of two. They are consecutive in memory, so a row of a block is 64 bytes or more.
BOTH constexpr int lg_cols(int m) { return m == 9 ? 1 : m == 8 ? 2 : 3; }
BOTH constexpr int tile_threads(int m) { return 1 << (m - 3 + lg_cols(m)); }
BOTH constexpr int tile_bytes(int m) { return 32 << (m + lg_cols(m)); }
// Blocks of 128 registers a thread that a multiprocessor holds.
BOTH constexpr int tile_blocks(int m) { return 512 / tile_threads(m) > 16 ? 16 : 512 / tile_threads(m); }

// f(i, fetch(i)) for i = FIRST .. 7, fetched one ahead. A loop: eight unrolled copies of a multiplication would not fit
// the instruction caches.
template <int FIRST, class Fetch, class F> DEVICE void ahead(Fetch fetch, F f)
{
    auto a = fetch(FIRST);
    NO_UNROLL for (int i = FIRST; i < 7; i += 2) {
        auto b = fetch(i + 1);
        f(i, a);
        a = fetch(i < 6 ? i + 2 : 7);
        f(i + 1, b);
    }
    if (FIRST) f(7, a);
}

DEVICE uint32_t rev(uint32_t x, int bits) { return bits ? __brev(x) >> (32 - bits) : 0; }
BOTH constexpr int rev3(int x) { return (x & 1) << 2 | (x & 2) | x >> 2; }

// ---- small transforms in registers, with the inverse root --------------------------------------------------------

// The sum may be loose (add_loose) where it is not subtracted from anything before the next multiplication.
DEVICE void dft2(Fr& a, Fr& b) { Fr t = add(a, b); b = sub(a, b); a = t; }
DEVICE void dft2_loose(Fr& a, Fr& b) { Fr t = add_loose(a, b); b = sub(a, b); a = t; }

// Natural order in and out. Input a and results 1 to 3 may be loose.
DEVICE void dft4(Fr& a, Fr& b, Fr& c, Fr& d)
{
    dft2(a, c); dft2(b, d);
    d = mul_split(d, fr_constants::W_I);
    dft2(a, b); dft2_loose(c, d);
    Fr t = b; b = c; c = t;
}

// Natural order in and out. Input 0 and results 1 to 7 may be loose. Four multiplications, all by constants: I, and
// with s a primitive 8th root, ALPHA = (s + s^3) / 2 and BETA = (s - s^3) / 2:
// s u + s^3 v = ALPHA (u + v) + BETA (u - v).
DEVICE void dft8(Fr (&x)[8])
{
    dft2(x[0], x[4]); dft2(x[1], x[5]); dft2(x[2], x[6]); dft2(x[3], x[7]);
    dft4(x[0], x[1], x[2], x[3]); // results 0, 2, 4, 6
    dft2_loose(x[5], x[7]);
    x[5] = mul_split(x[5], fr_constants::W_ALPHA);
    x[7] = mul_split(x[7], fr_constants::W_BETA);
    x[6] = mul_split(x[6], fr_constants::W_I);
    dft2(x[5], x[7]);       // s x5 + s^3 x7; s^3 x5 + s x7
    dft2_loose(x[4], x[6]); // x4 + i x6; x4 - i x6
    dft2_loose(x[4], x[5]); // results 1, 5
    dft2_loose(x[6], x[7]); // results 3, 7
    Fr t = x[1]; x[1] = x[4]; x[4] = x[2]; x[2] = t; // x held results 0 2 4 6 1 5 3 7
    t = x[3]; x[3] = x[6]; x[6] = t;
}

// ---- a transform of 2^M rows, 2^M / 8 threads a column -----------------------------------------------------------

// A block's share of a pass: C columns of 2^M rows in shared memory, in two planes of half elements. Row p T + u
// (T = 2^M / 8) lies at (row ^ (p & MASK)) C + c, which keeps eight consecutive threads in different banks at every
// step. Multiplications by tables are loops over elements in shared memory.
template <int M> struct Tile {
    static constexpr int C = 1 << lg_cols(M), T = 1 << (M - 3), STEPS = M / 3, LAST = M - 3 * STEPS;
    static constexpr int R = M >= 6 ? T / 8 : T;                          // rows of a sub-transform after two steps
    static constexpr int RHO = M >= 6 ? 1 << (M - 6) : T, G = 8 / RHO;    // what the last step reads: G groups of RHO rows
    static constexpr uint32_t MASK = T >= 8 ? 8 / C - 1 : 0;
    uint4* const mem;
    const int c;

    DEVICE int at(int p, int u) const { return ((p * T + u) ^ (p & MASK)) * C + c; }
    DEVICE void put(int pos, const Fr& y) const { mem[pos] = half0(y); mem[(C << M) + pos] = half1(y); }
    DEVICE Fr get(int pos) const { return join(mem[pos], mem[(C << M) + pos]); }
    // The eight places that thread t alone uses after dft().
    DEVICE int own(int t, int i) const
    {
        return M >= 6 ? at(t & 7, ((t >> 3) + R * (i / RHO)) * R + i % RHO) : at(t + T * (i / RHO), i % RHO);
    }

    // Thread t holds rows t + T i, i = 0..7, before and after. core: the steps' twiddles (core_table).
    DEVICE void dft(Fr (&x)[8], const uint4* core, int t) const
    {
        const int lo = t & 7, hi = t >> 3;
        NO_UNROLL for (int step = 0; step < STEPS; step++) {
            if (step > 0) { // in the second step p = lo and rows hi + R i; in the third, rows 8 hi + i
                BARRIER();
                UNROLL for (int i = 0; i < 8; i++) x[i] = get(at(lo, step == 1 ? hi + R * i : 8 * hi + i));
            }
            dft8(x);
            if (step + 1 == STEPS && LAST == 0) return;
            // hand over: result p of thread t becomes row p T + t, in the second step row lo T + R p + hi
            if (step == 0) BARRIER();
            UNROLL for (int p = 0; p < 8; p++) put(step ? at(lo, R * p + hi) : at(p, t), x[p]);
            if (step == 0)
                ahead<1>([&](int p) { return core_pair(core + (p - 1) * 4 * T, T, t); }, [&](int p, const Pair& w) {
                    put(at(p, t), get(at(p, t)) * w);
                });
            else if (hi) { // the same in a whole warp, or nearly
                const uint4* w = core + 28 * T + (hi - 1) * 7 * 16;
                NO_UNROLL for (int p = 1; p < 8; p++, w += 16) {
                    const int pos = at(lo, R * p + hi);
                    put(pos, mul_split_rows(get(pos), [&](int k) { return join(load_core(w + 2 * k), load_core(w + 2 * k + 1)); }));
                }
            }
        }
        if constexpr (LAST > 0) { // radix 2 or 4
            BARRIER();
            Fr y[8];
            UNROLL for (int i = 0; i < 8; i++) y[i] = get(own(t, i));
            UNROLL for (int g = 0; g < G; g++) {
                if constexpr (RHO == 2) dft2(y[2 * g], y[2 * g + 1]);
                else dft4(y[4 * g], y[4 * g + 1], y[4 * g + 2], y[4 * g + 3]);
            }
            UNROLL for (int g = 0; g < G; g++)
                UNROLL for (int s = 0; s < RHO; s++) x[g + G * s] = y[RHO * g + s];
        }
    }

    // f(i, x[i], fetch(i)) for each i, in a loop.
    template <class Fetch, class F> DEVICE void each(const Fr (&x)[8], int t, Fetch fetch, F f) const
    {
        UNROLL for (int i = 0; i < 8; i++) put(own(t, i), x[i]);
        ahead<0>(fetch, [&](int i, const auto& w) { f(i, get(own(t, i)), w); });
    }
    // x[i] = f(x[i], fetch(i)) for each i, in a loop.
    template <class Fetch, class F> DEVICE void map(Fr (&x)[8], int t, Fetch fetch, F f) const
    {
        each(x, t, fetch, [&](int i, const Fr& y, const auto& w) { put(own(t, i), f(y, w)); });
        UNROLL for (int i = 0; i < 8; i++) x[i] = get(own(t, i));
    }
};

enum Order { NATURAL, REVERSED, COMPLEMENT };

// Element i of thread t is row t + T i; where that row is stored.
template <int M> DEVICE int place(Order o, int t, int i)
{
    constexpr int T = 1 << (M - 3);
    return o == NATURAL ? t + T * i : o == COMPLEMENT ? (1 << M) - 1 - t - T * i : (int)(rev(t, M - 3) * 8 + rev3(i));
}
template <int M> DEVICE void load_rows(Fr (&x)[8], const Fr* col, int lg_stride, Order o, int t)
{
    UNROLL for (int i = 0; i < 8; i++) x[i] = load(col + ((size_t)place<M>(o, t, i) << lg_stride));
}
template <int M> DEVICE void store_rows(Fr* col, const Fr (&x)[8], int lg_stride, Order o, int t)
{
    UNROLL for (int i = 0; i < 8; i++) store(col + ((size_t)place<M>(o, t, i) << lg_stride), x[i]);
}
// Brings a column of an array into the L2 cache.
template <int M> DEVICE void prefetch_rows([[maybe_unused]] const Fr* col, [[maybe_unused]] int lg_stride, [[maybe_unused]] int t)
{
#ifndef CUZK_EMULATE
    UNROLL for (int i = 0; i < 8; i++) asm volatile("prefetch.global.L2 [%0];" ::"l"(col + ((size_t)place<M>(NATURAL, t, i) << lg_stride)));
#endif
}

// x times a row of constants, stored.
template <int M> DEVICE void store_scaled(Fr* col, const Fr (&x)[8], int lg_stride, Order o, const Tile<M>& tile, int t, const uint4* row)
{
    tile.each(x, t, [&](int i) { return row_pair(row, 1 << M, t + (i << (M - 3))); },
        [&](int i, const Fr& y, const Pair& w) { store(col + ((size_t)place<M>(o, t, i) << lg_stride), y * w); });
}


}  // namespace cuzk
