// Multi-scalar multiplication over resident bases, and plain sums of chosen bases.
//
//   1. recode        every scalar becomes W signed digits (W windows of 256/W bits)
//   2. sort          per window: (bucket, point) pairs by bucket
//   3. plan          per window: the lists of point pairs that each halving round adds
//   4. accumulate    per round: add all pairs in affine coordinates, an inversion for some 100 pairs of a thread
//   5. reduce        sum_b (b+1) * bucket_b as row sums and column sums of a matrix of buckets, again in affine
//                    coordinates for all windows at once, then a short XYZZ tree
//   6. combine       tiles and windows: the caller, on the host
//
// Both the buckets' elements and the buckets themselves cost one affine addition each: n * W + buckets of all windows.
#pragma once
#include "adder.cuh"
#include "plan.cuh"
#include "reduce.cuh"

namespace cuzk {

// `count` points of 2 * kWords words, affine, Montgomery form; (0, 0) is infinity.
struct Bases {
    const uint4* points;
    uint32_t count;
};

template<class F> class Msm {
    const Device& device;
    const WindowLayout layout;
    PlanSpace space;
    BatchPlan plans[2];
    Adder<F> adder;
    PointArray<F> sums, folded;
    uint4 *infinity, *tile_points;
    Node<F>* nodes[2];

    uint32_t* host_totals(uint32_t batch) const { return (uint32_t*)device.pinned + batch % 2 * kMaxRounds; }
    NodeInputs<F> folded_sums() const;
    void add_batch(uint32_t batch, const BatchShape& shape, const PointPool<F>& pool);
    void fold_batch(uint32_t batch, const BatchShape& shape, const PointPool<F>& pool);
    void reduce_tiles(void* points);

public:
    // Takes its memory from the carver: for n terms.
    Msm(const Device& device, Carver& carver, const WindowLayout& layout, size_t n);
    // TilePoints of all tiles, in the order of the windows, to the host: their combination is the sum of scalar * base over
    // the terms. Bucket (row, column) of a window's tile t stands for the digit t * 4^side_bits + row * 2^side_bits +
    // column + 1.
    void run(const Bases& bases, const Terms& terms, void* points);
};

// The sum of bases[indices[i]], i < count: added two by two, then folded in half until one is left. Memory from the carver.
template<class F> class PointSum {
    const Device& device;
    const size_t capacity;
    Adder<F> adder;
    uint4 *infinity, *jacobian;
    PointArray<F> sums;

public:
    PointSum(const Device& device, Carver& carver, size_t count);
    // The sum, Jacobian, to the host.
    void run(const Bases& bases, const uint32_t* indices, uint32_t count, void* point);
};

}  // namespace cuzk
