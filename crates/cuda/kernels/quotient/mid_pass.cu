#include "quotient.cuh"
#include "transform.cuh"

namespace cuzk {

// Digit 1 of the first `count` arrays. Columns are (k0, j2). Either from values to coefficients: rows j1 (in the
// given order) to k1, twiddle rows (j2; k1); or back: rows k1 to j1, twiddle rows (k0; j1). scalar: (k0, j2), for the
// whole column.
template<int M, bool TO_VALUES, bool FLIP>
CUZK_PASS(M) mid_pass(Arrays v, int count, int m0, int m2, const uint4* core, const uint4* twiddle, const uint4* scalar)
{
    CUZK_TILE(M);
    const uint32_t j2p = col & ((1u << m2) - 1), k0p = col >> m2;
    const size_t base = ((size_t)k0p << (M + m2)) + j2p;
    const uint32_t j2 = FLIP ? (1u << m2) - 1 - j2p : j2p, k0 = rev(k0p, m0);
    twiddle += (size_t)(TO_VALUES ? k0 : j2) * 4 << M;
    scalar += (((size_t)k0 << m2) + j2) * 4;
    NO_UNROLL for (int w = 0; w < count; w++) {
        Fr x[8];
        load_rows<M>(x, v.p[w] + base, m2, TO_VALUES ? REVERSED : FLIP ? COMPLEMENT : NATURAL, t);
        if (w + 1 < count) prefetch_rows<M>(v.p[w + 1] + base, m2, t);
        tile.dft(x, core, t);
        const Pair s = row_pair(scalar, 1, 0);
        tile.each(x, t, [&](int i) { return row_pair(twiddle, 1 << M, t + (i << (M - 3))); }, [&](int i, const Fr& y, const Pair& w1) {
            store(v.p[w] + base + ((size_t)place<M>(TO_VALUES ? NATURAL : REVERSED, t, i) << m2), y * w1 * s);
        });
    }
}

template<bool TO_VALUES, bool FLIP>
static void run(const Device& device, const QuotientTables& tables, Arrays v, int count, const uint4* twiddle, const uint4* scalar)
{
    const Digits d = tables.digits;
    with_digit(d.m1, [&](auto digit) {
        constexpr int M = decltype(digit)::value;
        CUZK_LAUNCH_PASS((mid_pass<M, TO_VALUES, FLIP>), M, v, count, d.m0, d.m2, tables.core[1], twiddle, scalar);
    });
}

void run_mid_pass_to_coefficients(const Device& device, const QuotientTables& tables, Arrays v, int count)
{   run<false, false>(device, tables, v, count, tables.mid_twiddle, tables.mid_scalar);   }

void run_mid_pass_to_values(const Device& device, const QuotientTables& tables, Arrays v)
{   run<true, false>(device, tables, v, 2, tables.value_twiddle_across, tables.coset_scalar);   }

void run_mid_pass_back(const Device& device, const QuotientTables& tables, Arrays v)
{   run<false, true>(device, tables, v, 1, tables.back_twiddle, tables.coset_scalar);   }

}  // namespace cuzk
