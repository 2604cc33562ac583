// The packed witness on the device, and what a proof takes from it.
#pragma once
#include "../field/fr.cuh"

namespace cuzk {

// Private variable i is wide where the mask says so: then its value is the rank-th wide one. Otherwise it is a bit. In a
// dense witness every variable is wide, and `words` and `ranks` are absent.
struct Witness {
    const Fr* values;                           // plain, below r: inputs, then wide values
    const ulonglong2* words;                    // of 64 variables: x the bits, y the mask of wide ones
    const uint32_t* ranks;                      // wide variables before each word
    uint32_t num_inputs;
};

// Consecutive rows of a matrix, `copies` times. A column is two class bits and 30 index bits.
enum ColumnClass { kOuterAux, kLocalAux, kOuterInput, kLinked };
// A row of more entries is long.
static const uint32_t kShortRow = 12;
struct MatrixRows {
    const uint32_t* row_ptr;
    const uint32_t* columns;
    const uint16_t* coefficients;
    const uint32_t* links;                      // num_links a copy: outer columns
    const uint32_t* long_rows;                  // the numbers of the rows of more than kShortRow entries
    uint32_t num_long;
    uint32_t rows, copies, aux_stride, num_links;
    uint32_t first_row;                         // in the result
};

// The coefficients in the forms that give results of one kind: multiplied by `factors`, a plain value becomes a term;
// `terms` is what a one contributes. Numbers `one` and `minus_one` need no multiplication.
struct Dictionary {
    const Fr *factors, *terms;
    uint32_t one, minus_one;
};

// out[first_row ..] = rows times witness, below r.
void evaluate(const Device& device, Fr* out, const MatrixRows& rows, const Dictionary& dictionary, const Witness& witness);

// `count` values from Montgomery form to plain, in place.
void make_plain(const Device& device, Fr* values, size_t count);
// A dictionary's forms, from Montgomery form: plain, and with 2^256 once more.
void make_dictionary(const Device& device, Fr* plain, Fr* twice, const Fr* montgomery, uint32_t count);
void place_bits(const Device& device, ulonglong2* words, const unsigned long long* bits, uint32_t count);

// The bases of a query whose variables are bits that are one. Bases lie in the order of the dense variables, from
// `first_base` on; `ranks`: dense variables before each word.
struct OnesQuery {
    const unsigned long long* bits;
    const unsigned long long* density;
    const uint32_t* ranks;
    uint32_t words, first_base;
};
size_t ones_workspace_bytes(uint32_t words);
// Lists their numbers, ascending, and returns how many there are. `indices` has room for one of every base.
uint32_t list_ones(const Device& device, const OnesQuery& query, uint32_t* indices, void* workspace);

// Points as parameter files have them (big-endian, uncompressed, 0x40 on infinity) to affine Montgomery form. Point i goes
// to place `first + i`, or to that number's bit reversal when reversed_bits is not zero. `components` a point: 2 or 4.
void decode_points(const Device& device, void* out, const void* encoded, uint32_t first, uint32_t count, uint32_t components,
                   uint32_t reversed_bits);
// The number of the first of `count` points that is not on its curve, or `count`.
uint32_t first_off_curve_g1(const Device& device, const void* points, uint32_t count);
uint32_t first_off_curve_g2(const Device& device, const void* points, uint32_t count);

}  // namespace cuzk
