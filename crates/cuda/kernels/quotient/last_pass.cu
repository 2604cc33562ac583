#include "quotient.cuh"
#include "transform.cuh"

namespace cuzk {

// Digit 2 of N (first array) and of C (third) to coefficients; h = C - weight N, below r, into the first.
template<int M> CUZK_PASS(M) last_pass(Arrays v, const uint4* core, const uint4* weight)
{
    CUZK_TILE(M);
    Fr* p = v.p[0] + (col << M);
    Fr x[8];
    load_rows<M>(x, p, 0, COMPLEMENT, t);
    NO_UNROLL for (int w = 0; w < 2; w++) {
        if (w == 0) prefetch_rows<M>(v.p[2] + (col << M), 0, t);
        tile.dft(x, core, t);
        if (w == 0) {
            store_scaled<M>(p, x, 0, REVERSED, tile, t, weight);
            load_rows<M>(x, v.p[2] + (col << M), 0, NATURAL, t);
        }
    }
    UNROLL for (int i = 0; i < 8; i++) {
        Fr* q = p + place<M>(REVERSED, t, i);
        store(q, reduce(reduce(sub(x[i], load(q))))); // x[i] may be loose
    }
}

// Digit 2 to coefficients, reduced: the last pass of a plain inverse transform.
template<int M> CUZK_PASS(M) end_pass(Fr* v, const uint4* core)
{
    CUZK_TILE(M);
    Fr x[8];
    load_rows<M>(x, v + (col << M), 0, NATURAL, t);
    tile.dft(x, core, t);
    UNROLL for (int i = 0; i < 8; i++) x[i] = reduce(reduce(x[i])); // may be loose
    store_rows<M>(v + (col << M), x, 0, REVERSED, t);
}

void run_last_pass(const Device& device, const QuotientTables& tables, Arrays v)
{
    with_digit(tables.digits.m2, [&](auto digit) {
        constexpr int M = decltype(digit)::value;
        CUZK_LAUNCH_PASS(last_pass<M>, M, v, tables.core[2], tables.last_weight);
    });
}

void run_end_pass(const Device& device, const QuotientTables& tables, Fr* x)
{
    with_digit(tables.digits.m2, [&](auto digit) {
        constexpr int M = decltype(digit)::value;
        CUZK_LAUNCH_PASS(end_pass<M>, M, x, tables.core[2]);
    });
}

}  // namespace cuzk
