// Which points a multi-scalar multiplication adds: scalars to signed digits, digits to buckets, buckets to the pairs of
// each halving round. Nothing here depends on the curve.
#pragma once
#include "../platform.cuh"

namespace cuzk {

static const uint32_t kMaxWindows = 64, kMaxTilesPerWindow = 4, kMaxRounds = 32;
static const uint32_t kLargeBucket = 256;       // pairs; such a bucket's are listed by a whole block

static const uint32_t kNegative = 0x80000000u;  // in a reference: use the negative of the point
static const uint32_t kNoPoint = 0x7fffffffu;   // the reference of an empty bucket

// 256 bits over some windows, the wider ones first. A tile is the largest square that fits the narrow windows.
struct WindowLayout {
    uint32_t windows;
    uint32_t per_batch;                 // windows that are sorted and added together
    uint32_t per_recoding;              // windows whose digits are kept at a time, some batches'
    uint32_t side_bits, tiles;
    uint32_t bits[kMaxWindows], tiles_of_window[kMaxWindows];

    static WindowLayout of(uint32_t windows, uint32_t per_batch);
    // The layout that does the fewest additions for n scalars.
    static WindowLayout best_for(size_t n);
    uint32_t batches() const { return ceiling(windows, per_batch); }
    // Keys are sorted together: above a digit of this many bits they carry the number of their window in the batch.
    uint32_t tag_shift() const { return bits[0]; }
    uint32_t tag_bits() const;
    uint32_t first_tile_of(uint32_t window) const;
};

// A batch is one window or several; its buckets lie one after the other, each window's followed by one for the zero
// digits, which is planned as empty.
struct BatchShape {
    uint32_t windows;                           // in this batch
    uint32_t n;
    uint32_t key_mask;                          // of a key without tag and sign
    uint32_t slots;                             // buckets of all windows, with those for zero
    uint32_t first_slot[kMaxWindows + 1];
    uint32_t key_bits[kMaxWindows];             // c-1: 2^key_bits buckets

    static BatchShape of(const WindowLayout& layout, uint32_t batch, size_t n);
    DEVICE uint32_t window_of_slot(uint32_t slot) const
    {
        uint32_t w = 0;
        while (w + 1 < windows && slot >= first_slot[w + 1])
            w++;
        return w;
    }
};

struct BucketState;
struct LargeBucket;

// A batch's arrays on the device.
struct BatchPlan {
    uint32_t* keys;                             // sorted
    uint32_t* values;
    uint32_t* start;                            // per slot: its first element in the sorted list
    BucketState* state;                         // per slot
    uint32_t* pairs_count;                      // per slot: pairs of the coming round, and their prefix sums
    uint32_t* pairs_first;
    uint32_t* totals;                           // pairs of each round
    uint2* pairs;                               // of all rounds, one after the other
    uint32_t* result;                           // per slot: the bucket's sum
    LargeBucket* large;                         // buckets with many pairs in this round
    uint32_t* large_count;

    static BatchPlan in(Carver& carver, const WindowLayout& layout, size_t n);
};

// What both plans of an MSM share.
struct PlanSpace {
    uint32_t* keys;                             // unsorted, of some batches
    uint32_t* references;                       // each scalar's point, again for each window of a batch
    void* temporary;
    size_t temporary_bytes;

    static PlanSpace in(Carver& carver, const WindowLayout& layout, size_t n);
};

// The scalars: `count` of 32 bytes, little-endian, below r. Scalar i is scalars[scalar_of[i]], its point
// bases[base_of[i]]; without a list, number i.
struct Terms {
    const uint4* scalars;
    const uint32_t* scalar_of;
    const uint32_t* base_of;
    uint32_t count;
};

// First half of a plan: recode, sort, count; the totals of the rounds are copied to `host_totals`.
void sort_batch(const Device& device, cudaStream_t stream, const WindowLayout& layout, uint32_t batch, const Terms& terms,
                const PlanSpace& space, const BatchPlan& plan, uint32_t* host_totals);
// Second half, when the totals have come: the pairs of all rounds. Sums are numbered from `first_sum` on.
void list_pairs(const Device& device, cudaStream_t stream, const BatchShape& shape, uint32_t first_sum,
                const PlanSpace& space, const BatchPlan& plan, const uint32_t* host_totals);
// What `sort_batch` expects in space.references.
void fill_references(const Device& device, cudaStream_t stream, const WindowLayout& layout, const Terms& terms, const PlanSpace& space);

// sort.cu
size_t sort_temporary_bytes(size_t n, uint32_t bits);
void sort_pairs(void* temporary, size_t bytes, const uint32_t* keys, uint32_t* sorted_keys, const uint32_t* values,
                uint32_t* sorted_values, size_t n, uint32_t bits, cudaStream_t stream);
size_t scan_temporary_bytes(size_t n);
void exclusive_sum(void* temporary, size_t bytes, const uint32_t* in, uint32_t* out, size_t n, cudaStream_t stream);

}  // namespace cuzk
