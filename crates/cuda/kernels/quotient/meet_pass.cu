#include "quotient.cuh"
#include "transform.cuh"

namespace cuzk {

// Digit 0 of both arrays to values on the coset; their product into the first, and its digit 0 back.
// twiddle: rows (j1; k0).
template<int M> CUZK_PASS(M) meet_pass(Arrays v, int m1, int m2, const uint4* core, const uint4* twiddle)
{
    CUZK_TILE(M);
    const int lg_stride = m1 + m2;
    twiddle += (((size_t)1 << m1) - 1 - (col >> m2)) * 4 << M;
    Fr* p = v.p[0] + col;
    int u = t;
    Fr x[8];
    load_rows<M>(x, p, lg_stride, REVERSED, t);
    NO_UNROLL for (int w = 0; w < 3; w++) {
        if (w == 0) prefetch_rows<M>(v.p[1] + col, lg_stride, t);
        tile.dft(x, core, u);
        if (w == 0) {
            store_rows<M>(p, x, lg_stride, NATURAL, t);
            load_rows<M>(x, v.p[1] + col, lg_stride, REVERSED, t);
        } else if (w == 1) {    // the product; its rows complemented are those of thread T - 1 - t, last first
            tile.map(x, t, [&](int i) { return load(p + ((size_t)place<M>(NATURAL, t, i) << lg_stride)); },
                [](const Fr& y, const Fr& first) { return mul_mont(reduce(first), y); });
            UNROLL for (int i = 0; i < 4; i++) { Fr y = x[i]; x[i] = x[7 - i]; x[7 - i] = y; }
            u = (1 << (M - 3)) - 1 - t;
        }
    }
    store_scaled<M>(p, x, lg_stride, REVERSED, tile, u, twiddle);
}

void run_meet_pass(const Device& device, const QuotientTables& tables, Arrays v)
{
    const Digits d = tables.digits;
    with_digit(d.m0, [&](auto digit) {
        constexpr int M = decltype(digit)::value;
        CUZK_LAUNCH_PASS(meet_pass<M>, M, v, d.m1, d.m2, tables.core[0], tables.value_twiddle);
    });
}

}  // namespace cuzk
