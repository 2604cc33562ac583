#include "witness.cuh"
#include "../field/fr_memory.cuh"

namespace cuzk {

DEVICE Fr load_cached(const Fr* p) { const uint4* q = (const uint4*)p; return join(load_core(q), load_core(q + 1)); }

// The outer column (an aux or an input of its own number) that a column stands for.
DEVICE uint32_t resolve(uint32_t column, const MatrixRows& rows, uint32_t copy)
{
    const uint32_t index = column & 0x3fffffff, kind = column >> 30;
    if (kind == kLocalAux)
        return index + copy * rows.aux_stride;
    return kind == kLinked ? __ldg(rows.links + (size_t)copy * rows.num_links + index) : column;
}

enum Value { kZero, kOne, kWide };

// What the variable of an outer column holds; a wide one's place is `at`.
DEVICE Value look_up(const Witness& witness, uint32_t column, uint32_t& at)
{
    const uint32_t index = column & 0x3fffffff;
    if (column >> 30 == kOuterInput) {
        at = index;
        return index == 0 ? kOne : kWide;
    }
    at = witness.num_inputs + index;
    if (!witness.words)
        return kWide;
    const ulonglong2 word = __ldg(witness.words + (index >> 6));
    const uint32_t bit = index & 63;
    if (word.y >> bit & 1) {
        at = witness.num_inputs + __ldg(witness.ranks + (index >> 6)) + __popcll(word.y & ((1ull << bit) - 1));
        return kWide;
    }
    return word.x >> bit & 1 ? kOne : kZero;
}

DEVICE Fr add_term(const Fr& sum, Value kind, uint32_t at, uint32_t coefficient, const Dictionary& dictionary, const Fr* values)
{
    if (kind == kOne)
        return add(sum, load_cached(dictionary.terms + coefficient));
    const Fr value = load_cached(values + at);
    if (coefficient == dictionary.one)
        return add(sum, value);
    if (coefficient == dictionary.minus_one)
        return sub(sum, value);
    return add(sum, mul_mont(load_cached(dictionary.factors + coefficient), value));
}

DEVICE Fr add_entry(const Fr& sum, const MatrixRows& rows, uint32_t copy, uint32_t e, const Dictionary& dictionary, const Witness& witness)
{
    uint32_t at;
    const Value kind = look_up(witness, resolve(rows.columns[e], rows, copy), at);
    return kind == kZero ? sum : add_term(sum, kind, at, rows.coefficients[e], dictionary, witness.values);
}

// A thread for each row but the long ones: most have one to three entries.
KERNEL(256, 2) evaluate_short_rows(Fr* out, MatrixRows rows, Dictionary dictionary, Witness witness)
{
    FOR_EACH(uint32_t, i, rows.rows * rows.copies) {
        const uint32_t copy = i / rows.rows, row = i - copy * rows.rows;
        const uint32_t begin = rows.row_ptr[row], end = rows.row_ptr[row + 1];
        if (end - begin > kShortRow)
            continue;
        Fr sum = fr_zero();
        NO_UNROLL for (uint32_t e = begin; e < end; e++)
            sum = add_entry(sum, rows, copy, e, dictionary, witness);
        store(out + rows.first_row + i, reduce(sum));
    }
}

// A warp for each long row. Few rows are long, but they hold most of the entries of a circuit of hashes, and in a thread of
// their own would keep the rest of its warp waiting.
static const uint32_t kRowThreads = 32;

KERNEL(kRowThreads, 16) evaluate_long_rows(Fr* out, MatrixRows rows, Dictionary dictionary, Witness witness)
{
    BLOCK_SHARED(Fr, partial[kRowThreads]);
    const uint32_t t = threadIdx.x;
    for (uint32_t job = blockIdx.x; job < rows.num_long * rows.copies; job += gridDim.x) {
        const uint32_t copy = job / rows.num_long, row = rows.long_rows[job - copy * rows.num_long];
        const uint32_t end = rows.row_ptr[row + 1];
        Fr sum = fr_zero();
        NO_UNROLL for (uint32_t e = rows.row_ptr[row] + t; e < end; e += kRowThreads)
            sum = add_entry(sum, rows, copy, e, dictionary, witness);
        partial[t] = sum;
        BARRIER();
        NO_UNROLL for (uint32_t half = kRowThreads / 2; half > 0; half /= 2) {
            if (t < half)
                partial[t] = add(partial[t], partial[t + half]);
            BARRIER();
        }
        if (t == 0)
            store(out + rows.first_row + (size_t)copy * rows.rows + row, reduce(partial[0]));
        BARRIER();
    }
}

void evaluate(const Device& device, Fr* out, const MatrixRows& rows, const Dictionary& dictionary, const Witness& witness)
{
    const size_t most = device.multiprocessors * 64, all = (size_t)rows.rows * rows.copies;
    const size_t blocks = ceiling<size_t>(all, 256), long_rows = (size_t)rows.num_long * rows.copies;
    if (blocks > 0)
        LAUNCH(evaluate_short_rows, blocks < most ? blocks : most, 256, 0, device.main, out, rows, dictionary, witness);
    if (long_rows > 0)
        LAUNCH_WITH_BARRIERS(evaluate_long_rows, long_rows < most ? long_rows : most, kRowThreads, 0, device.main, out, rows,
                             dictionary, witness);
}

DEVICE Fr plain_one() { return Fr{{1, 0, 0, 0, 0, 0, 0, 0}}; }

KERNEL(256, 1) values_to_plain(Fr* values, size_t count)
{
    FOR_EACH(size_t, i, count)
        store(values + i, reduce(mul_mont(load(values + i), plain_one())));
}

void make_plain(const Device& device, Fr* values, size_t count)
{   LAUNCH(values_to_plain, device.light_grid(), 256, 0, device.main, values, count);   }

KERNEL(256, 1) dictionary_forms(Fr* plain, Fr* twice, const Fr* montgomery, uint32_t count)
{
    FOR_EACH(uint32_t, i, count) {
        const Fr x = load(montgomery + i);
        store(plain + i, reduce(mul_mont(x, plain_one())));
        store(twice + i, reduce(mul_mont(x, fr_constant(fr_constants::RR))));
    }
}

void make_dictionary(const Device& device, Fr* plain, Fr* twice, const Fr* montgomery, uint32_t count)
{   LAUNCH(dictionary_forms, device.multiprocessors, 256, 0, device.main, plain, twice, montgomery, count);   }

KERNEL(256, 1) set_bits(ulonglong2* words, const unsigned long long* bits, uint32_t count)
{
    FOR_EACH(uint32_t, i, count)
        words[i].x = bits[i];
}

void place_bits(const Device& device, ulonglong2* words, const unsigned long long* bits, uint32_t count)
{   LAUNCH(set_bits, device.light_grid(), 256, 0, device.main, words, bits, count);   }

}  // namespace cuzk
