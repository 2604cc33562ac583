#include "quotient.cuh"
#include "transform.cuh"

namespace cuzk {

// Digit 2 of the first `count` arrays to coefficients, their weights, and digit 2 towards values. weight: one row,
// k2. twiddle: rows (k1; j2).
template<int M> CUZK_PASS(M) turn_pass(Arrays v, int count, int m1, const uint4* core, const uint4* weight, const uint4* twiddle)
{
    CUZK_TILE(M);
    twiddle += (size_t)rev(col & ((1u << m1) - 1), m1) * 4 << M;
    NO_UNROLL for (int w = 0; w < count; w++) {
        Fr x[8];
        Fr* p = v.p[w] + (col << M);
        load_rows<M>(x, p, 0, NATURAL, t);
        if (w + 1 < count) prefetch_rows<M>(v.p[w + 1] + (col << M), 0, t);
        NO_UNROLL for (int side = 0; side < 2; side++) {
            tile.dft(x, core, t);
            const uint4* row = side ? twiddle : weight;
            tile.map(x, t, [&](int i) { return row_pair(row, 1 << M, t + (i << (M - 3))); }, [](const Fr& y, const Pair& w1) { return y * w1; });
        }
        store_rows<M>(p, x, 0, NATURAL, t);
    }
}

void run_turn_pass(const Device& device, const QuotientTables& tables, Arrays v)
{
    const Digits d = tables.digits;
    with_digit(d.m2, [&](auto digit) {
        constexpr int M = decltype(digit)::value;
        CUZK_LAUNCH_PASS(turn_pass<M>, M, v, 2, d.m1, tables.core[2], tables.turn_weight, tables.turn_twiddle);
    });
}

}  // namespace cuzk
