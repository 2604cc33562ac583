// What batch_affine_add is to add. A source names the two operands of pair i, places an operand, and says where the
// sum goes.
#pragma once
#include "plan.cuh"
#include "pool.cuh"

namespace cuzk {

// Pairs from a list; sums go to the pool in order.
template<class F> struct ListedPairs {
    PointPool<F> pool;
    const uint2* pairs;
    uint32_t first_sum;

    DEVICE uint2 pair(uint32_t i) const                         { return pairs[i]; }
    DEVICE Place<const uint4> place(uint32_t ref) const         { return pool[ref]; }
    DEVICE Place<uint4> result(uint32_t i) const                { return pool.sums[first_sum + i]; }
};

// A tile is a square matrix of buckets, 2^side_bits rows and columns. Its row sums and column sums are made by folding:
// the right half of every row onto the left half, the lower half of the rows onto the upper half, again and again. The
// first fold reads buckets and leaves two matrices, of half as many columns and of half as many rows.
template<class F> struct FoldedTiles {
    PointPool<F> pool;
    const uint32_t* buckets;
    PointArray<F> folded;
    uint32_t side_bits, tiles, first_right_fold, first_lower_fold;      // indexes of matrices in `folded`
    uint32_t first_slot[kMaxTilesPerWindow * kMaxWindows];              // of each tile

    DEVICE uint32_t half_bits() const { return 2 * side_bits - 1; }     // log2 of half a tile
    DEVICE uint2 pair(uint32_t i) const
    {
        uint32_t matrix = i >> half_bits(), at = i & ((1u << half_bits()) - 1);
        const uint32_t* tile = buckets + first_slot[matrix < tiles ? matrix : matrix - tiles];
        if (matrix >= tiles)
            return make_uint2(tile[at], tile[at + (1u << half_bits())]);
        const uint32_t half_side = 1u << (side_bits - 1);
        uint32_t row = at >> (side_bits - 1), column = at & (half_side - 1), left = row << side_bits | column;
        return make_uint2(tile[left], tile[left + half_side]);
    }
    DEVICE Place<const uint4> place(uint32_t ref) const { return pool[ref]; }
    DEVICE Place<uint4> result(uint32_t i) const
    {
        uint32_t matrix = i >> half_bits(), at = i & ((1u << half_bits()) - 1);
        matrix = matrix < tiles ? first_right_fold + matrix : first_lower_fold + matrix - tiles;
        return folded[((size_t)matrix << half_bits()) + at];
    }
};

// The later folds, in place, of all tiles. Each row of a right fold is an array of half a side, to be folded into one
// point; each lower fold is one array, to be folded into one row: halves of 2^right_bits and 2^lower_bits points.
template<class F> struct FoldedMatrices {
    PointArray<F> folded;
    uint32_t side_bits, tiles, right_bits, lower_bits;

    DEVICE uint32_t right_pairs() const { return tiles << (side_bits + right_bits); }
    DEVICE uint2 pair(uint32_t i) const
    {
        if (i < right_pairs()) {
            uint32_t a = (i >> right_bits << (side_bits - 1)) + (i & ((1u << right_bits) - 1));
            return make_uint2(a, a + (1u << right_bits));
        }
        i -= right_pairs();
        uint32_t a = ((tiles + (i >> lower_bits)) << (2 * side_bits - 1)) + (i & ((1u << lower_bits) - 1));
        return make_uint2(a, a + (1u << lower_bits));
    }
    DEVICE Place<const uint4> place(uint32_t ref) const         { return constant(folded[ref]); }
    DEVICE Place<uint4> result(uint32_t i) const                { return folded[pair(i).x]; }
};

// A plain sum: first the listed input points two by two, then the sums folded in half again and again.
template<class F> struct IndexedPairs {
    PointPool<F> pool;
    const uint32_t* indices;
    uint32_t count;

    DEVICE uint2 pair(uint32_t i) const
    {   return make_uint2(indices[2 * i], 2 * i + 1 < count ? indices[2 * i + 1] : kNoPoint);   }
    DEVICE Place<const uint4> place(uint32_t ref) const         { return pool[ref]; }
    DEVICE Place<uint4> result(uint32_t i) const                { return pool.sums[i]; }
};

template<class F> struct FoldedRun {
    PointArray<F> points;
    uint32_t distance;

    DEVICE uint2 pair(uint32_t i) const                         { return make_uint2(i, i + distance); }
    DEVICE Place<const uint4> place(uint32_t ref) const         { return constant(points[ref]); }
    DEVICE Place<uint4> result(uint32_t i) const                { return points[i]; }
};

// For inputs to checks and timings: point i plus a fixed one becomes point first_result + i of the same array.
template<class F> struct ShiftedPoints {
    uint4* points;                              // x, y, x, y, ...
    uint32_t shift, first_result;

    DEVICE uint2 pair(uint32_t i) const                         { return make_uint2(i, shift); }
    DEVICE Place<uint4> at(size_t i) const
    {   return {points + 2 * kWords<F> * i, points + 2 * kWords<F> * i + kWords<F>};   }
    DEVICE Place<const uint4> place(uint32_t ref) const         { return constant(at(ref)); }
    DEVICE Place<uint4> result(uint32_t i) const                { return at((size_t)first_result + i); }
};

// Multiples of one point for a setup: adds to point i the entry of a window's table that its scalar's digit names. Entry d
// of the table is d times the window's point, entry 0 is infinity.
template<class F> struct TableEntries {
    uint4* points;                              // x, y, x, y, ...
    const uint4* table;
    const uint32_t* scalars;                    // plain, 8 words each
    uint32_t count, first_bit, digit_bits;      // digits do not straddle words

    DEVICE uint2 pair(uint32_t i) const
    {
        const uint32_t word = scalars[8 * (size_t)i + first_bit / 32];
        return make_uint2(i, count + (word >> first_bit % 32 & ((1u << digit_bits) - 1)));
    }
    DEVICE Place<const uint4> place(uint32_t ref) const
    {
        const uint4* point = ref < count ? points + 2 * kWords<F> * (size_t)ref : table + 2 * kWords<F> * (size_t)(ref - count);
        return {point, point + kWords<F>};
    }
    DEVICE Place<uint4> result(uint32_t i) const
    {
        uint4* point = points + 2 * kWords<F> * (size_t)i;
        return {point, point + kWords<F>};
    }
};

}  // namespace cuzk
