// The Groth16 quotient over BLS12-381 Fr, resident on one device, with six transforms.
//
// Given the values a, b of A, B (degree < n = 2^L) on the n-th roots of unity, and c = a b there, the quotient
// h = (A B - C) / (X^n - 1) needs A B modulo X^n - 1, which is C, and modulo X^n + 1, which is N: h = (C - N) / 2.
// Modulo X^n + 1 means values on the odd coset: with w of order n and e^2 = w, the points e^(2j+1).
//
// An index of L bits is three digits of m0, m1, m2 <= 9 bits, and a transform is three passes over memory, one
// digit each: load 2^m rows, transform them in registers and shared memory, multiply by twiddles, store in place.
// Values have index j = (j0, j1, j2), top digit first; coefficients k = k0 + 2^m0 k1 + 2^(m0+m1) k2, and are stored
// bit-reversed: position (rev k0, rev k1, rev k2). So no transform ever permutes. Every transform here uses the
// inverse root, W = 1/w, E = 1/e:
//     W^(j k) = W^(2^(m1+m2) j0 k0) * W^(2^m2 j1 k0) * W^(2^(m0+m2) j1 k1) * W^(j2 k0) * W^(2^m0 j2 k1) * W^(2^(m0+m1) j2 k2)
// where the first, third and last factor are the digits' own transforms. The other three are the twiddles between
// passes, each from a table of two digits: (j1, k0), (j2, k1), and (j2, k0), which is one factor for a whole
// column of the middle pass. Transforming coefficients with W and weights E^k gives the coset's values in
// complemented order: at position j the value at e^(2j'+1), j' = n - 1 - j (all bits flipped). The transform back
// therefore reads its rows complemented, and again uses W: E^((2j'+1) k). Scalings and all weights are in tables.
//
//   first  a, b    -> a, b, c    c = a b; digit 0 of the three                             read 2, write 3
//   mid    a, b, c               digit 1                                                        3        3
//   turn   a, b                  digit 2, now coefficients; weights E^k; digit 2 towards values  2        2
//   mid    a, b                  digit 1                                                        2        2
//   meet   a, b    -> a          digit 0, values on the coset; product; digit 0 back            2        1
//   mid    a                     digit 1                                                        1        1
//   last   a, c    -> a          digit 2 of N and of C; h                                       2        1
#pragma once
#include "../field/fr.cuh"

namespace cuzk {

static const uint32_t kLeastLogDomain = 9, kMostLogDomain = 27;

struct Digits { int m0, m1, m2; };

// How 2^log_n is cut. Digits of 5 bits are not compiled.
Digits digits_of(uint32_t log_n);

// Three arrays of 2^L values.
struct Arrays { Fr* p[3]; };

// Tables of constants, on the device. A row of n constants is four planes of n words (see row_pair).
struct QuotientTables {
    Digits digits;
    const uint4* core[3];               // of each digit's transform
    const uint4 *value_twiddle, *value_twiddle_across, *mid_twiddle, *turn_twiddle, *back_twiddle;
    const uint4 *mid_scalar, *coset_scalar;
    const uint4 *turn_weight, *last_weight;

    int log_n() const { return digits.m0 + digits.m1 + digits.m2; }
};

size_t quotient_table_bytes(Digits digits);
// Fills `memory`, of quotient_table_bytes.
QuotientTables make_quotient_tables(const Device& device, Digits digits, void* memory);

// v.p[0], v.p[1]: values of A, B, below r, in natural order; v.p[2]: room. All three are overwritten; h comes out in
// v.p[0], bit-reversed, below r. Products are Montgomery products: with a as x 2^256 and b as y, h is plain.
void run_quotient(const Device& device, const QuotientTables& tables, Arrays v);
// Half the coefficients (below r, bit-reversed) of the polynomial with these values.
void run_half_inverse(const Device& device, const QuotientTables& tables, Fr* x);

// The passes; see above.
void run_first_pass(const Device& device, const QuotientTables& tables, Arrays v, int from, int to);
void run_mid_pass_to_coefficients(const Device& device, const QuotientTables& tables, Arrays v, int count);
void run_turn_pass(const Device& device, const QuotientTables& tables, Arrays v);
void run_mid_pass_to_values(const Device& device, const QuotientTables& tables, Arrays v);
void run_meet_pass(const Device& device, const QuotientTables& tables, Arrays v);
void run_mid_pass_back(const Device& device, const QuotientTables& tables, Arrays v);
void run_last_pass(const Device& device, const QuotientTables& tables, Arrays v);
void run_end_pass(const Device& device, const QuotientTables& tables, Fr* x);

// The element and the column of this thread, and the block's tile.
#define CUZK_TILE(M) \
    SHARED_WORDS(tile_words); \
    const Tile<M> tile = {tile_words, (int)threadIdx.x % Tile<M>::C}; \
    const int t = threadIdx.x / Tile<M>::C; \
    const size_t col = (size_t)blockIdx.x * Tile<M>::C + tile.c
#define CUZK_PASS(M) KERNEL(tile_threads(M), tile_blocks(M))

// Calls `f` with the digit as a compile-time constant.
template<int M> struct DigitConstant { static constexpr int value = M; };
template<class F> void with_digit(int m, const F& f)
{
    switch (m) {
    case 3: return f(DigitConstant<3>());
    case 4: return f(DigitConstant<4>());
    case 6: return f(DigitConstant<6>());
    case 7: return f(DigitConstant<7>());
    case 8: return f(DigitConstant<8>());
    case 9: return f(DigitConstant<9>());
    default: UNSUPPORTED("no digit of " + std::to_string(m) + " bits");
    }
}

#define CUZK_LAUNCH_PASS(kernel, M, ...) \
    LAUNCH_WITH_BARRIERS(kernel, (size_t)1 << (tables.log_n() - M - lg_cols(M)), tile_threads(M), tile_bytes(M), \
                         device.main, __VA_ARGS__)

}  // namespace cuzk
