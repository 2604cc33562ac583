#include "quotient.cuh"
#include "transform.cuh"

namespace cuzk {

// Digit 0, values to coefficients, of arrays from .. to - 1; array 2 is the product of the other two, which is
// taken before they change. twiddle: rows (j1; k0).
template<int M> CUZK_PASS(M) first_pass(Arrays v, int from, int to, int m1, int m2, const uint4* core, const uint4* twiddle)
{
    CUZK_TILE(M);
    const int lg_stride = m1 + m2;
    twiddle += (col >> m2) * 4 << M;
    NO_UNROLL for (int w = to - 1; w >= from; w--) {
        Fr x[8];
        load_rows<M>(x, v.p[w == 2 ? 0 : w] + col, lg_stride, NATURAL, t);
        if (w == 2)     // the first round: shared memory is free
            tile.map(x, t, [&](int i) { return load(v.p[1] + col + ((size_t)place<M>(NATURAL, t, i) << lg_stride)); }, mul_mont);
        tile.dft(x, core, t);
        store_scaled<M>(v.p[w] + col, x, lg_stride, REVERSED, tile, t, twiddle);
    }
}

void run_first_pass(const Device& device, const QuotientTables& tables, Arrays v, int from, int to)
{
    const Digits d = tables.digits;
    with_digit(d.m0, [&](auto digit) {
        constexpr int M = decltype(digit)::value;
        CUZK_LAUNCH_PASS(first_pass<M>, M, v, from, to, d.m1, d.m2, tables.core[0], tables.value_twiddle);
    });
}

}  // namespace cuzk
