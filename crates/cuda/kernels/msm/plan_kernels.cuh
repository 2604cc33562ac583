// The kernels behind plan.cuh. In a round every bucket adds its elements two by two; an odd one waits. After round 0
// three numbers describe a bucket, so the later rounds need no lists of elements, only of pairs.
#pragma once
#include "plan.cuh"

namespace cuzk {

#ifdef CUZK_EMULATE
inline bool any_in_warp(bool x)                 { return x; }
inline uint32_t sum_in_warp(uint32_t x)         { return x; }
inline bool is_first_in_warp()                  { return true; }
#else
DEVICE bool any_in_warp(bool x)                 { return __any_sync(0xffffffff, x); }
DEVICE uint32_t sum_in_warp(uint32_t x)
{
# ifdef __CUDA_ARCH__
    x = __reduce_add_sync(0xffffffff, x);
# endif
    return x;
}
DEVICE bool is_first_in_warp()                  { return threadIdx.x % 32 == 0; }
#endif

// Adding 2^(c-1) to every digit position beforehand makes each signed digit readable on its own, with no carry between
// windows: digit = ((scalar + bias) >> offset & mask) - 2^(c-1), in [-2^(c-1), 2^(c-1)).
struct Recoding {
    uint32_t bias[8];
    uint32_t first, end;                        // the windows wanted, of all
    uint32_t per_batch, tag_shift;
    uint8_t bits[kMaxWindows];                  // of every window
};

// The key of a digit: its bucket |digit|-1, or 2^(c-1) for zero (sorted last, then ignored); above it the number of the
// window in its batch; and the sign in bit 31, which the sort carries along and does not look at.
KERNEL(kLightThreads, 1) recode_scalars(uint32_t* keys, Terms terms, Recoding recoding)
{
    FOR_EACH(size_t, i, terms.count) {
        size_t scalar = terms.scalar_of ? terms.scalar_of[i] : i;
        uint4 lo = terms.scalars[2 * scalar], hi = terms.scalars[2 * scalar + 1];
        uint32_t s[9] = {lo.x, lo.y, lo.z, lo.w, hi.x, hi.y, hi.z, hi.w, 0};
        uint64_t carry = 0;
        UNROLL for (int k = 0; k < 8; k++) {
            carry += (uint64_t)s[k] + recoding.bias[k];
            s[k] = (uint32_t)carry;
            carry >>= 32;
        }
        // Shift the number down window by window: constant register indexes, however the windows lie.
        for (uint32_t w = 0; w < recoding.end; w++) {
            uint32_t bits = recoding.bits[w], half = 1u << (bits - 1);
            if (w >= recoding.first) {
                int32_t digit = (int32_t)(s[0] & (2 * half - 1)) - (int32_t)half;
                uint32_t magnitude = digit < 0 ? -digit : digit;
                uint32_t key = digit == 0 ? half : (magnitude - 1) | (digit < 0 ? kNegative : 0);
                keys[(size_t)(w - recoding.first) * terms.count + i] = key | (w % recoding.per_batch) << recoding.tag_shift;
            }
            UNROLL for (int k = 0; k < 8; k++)
                s[k] = (uint32_t)(((uint64_t)s[k + 1] << 32 | s[k]) >> bits);
        }
    }
}

// base_of, or 0, 1, 2, ..., `times` over.
KERNEL(kLightThreads, 1) repeat_references(uint32_t* references, const uint32_t* base_of, uint32_t n, uint32_t times)
{
    FOR_EACH(size_t, i, (size_t)n * times) {
        const uint32_t term = (uint32_t)(i % n);
        references[i] = base_of ? base_of[term] : term;
    }
}

// A bucket between rounds: its `sums` sums of the last round are consecutive in the pool from `first_sum` on, and one
// older element may wait.
struct BucketState {
    uint32_t sums, first_sum, waiting;

    DEVICE uint32_t pairs() const { return (sums + (waiting != kNoPoint)) / 2; }
    DEVICE uint2 pair(uint32_t k) const
    {   return make_uint2(first_sum + 2 * k, 2 * k + 1 < sums ? first_sum + 2 * k + 1 : waiting);   }
    DEVICE BucketState after_round(uint32_t first_new_sum) const
    {
        bool odd = (sums + (waiting != kNoPoint)) % 2;
        uint32_t rest = !odd ? kNoPoint : waiting != kNoPoint ? waiting : first_sum + sums - 1;
        return {pairs(), first_new_sum, rest};
    }
};

struct LargeBucket {
    BucketState state;
    uint32_t first_pair;
};

// A binary search per bucket rather than a pass over the elements: as fast, and no worse when the digits are few.
KERNEL(kLightThreads, 1) find_bucket_starts(BatchPlan plan, BatchShape shape)
{
    FOR_EACH(uint32_t, slot, shape.slots + 1) {
        if (slot == shape.slots) {
            plan.start[slot] = shape.windows * shape.n;
            continue;
        }
        uint32_t w = shape.window_of_slot(slot), key = slot - shape.first_slot[w];
        const uint32_t* keys = plan.keys + (size_t)w * shape.n;
        uint32_t lo = 0, hi = shape.n;
        while (lo < hi) {
            uint32_t mid = (lo + hi) / 2;
            if ((keys[mid] & shape.key_mask) < key)
                lo = mid + 1;
            else
                hi = mid;
        }
        plan.start[slot] = w * shape.n + lo;
    }
}

DEVICE uint32_t elements_of_slot(const BatchPlan& plan, const BatchShape& shape, uint32_t slot)
{
    uint32_t w = shape.window_of_slot(slot);
    bool zero_digits = slot - shape.first_slot[w] == 1u << shape.key_bits[w];
    return zero_digits ? 0 : plan.start[slot + 1] - plan.start[slot];
}

// How many pairs each round will have (the host sizes its launches by it), and the pairs of round 0: a bucket of E
// elements has ceil(E / 2^round) of them in a round. A pass over the buckets for each round, and one atomic a warp.
KERNEL(kLightThreads, 1) count_pairs(BatchPlan plan, BatchShape shape)
{
    bool more = true;
    for (uint32_t round = 0; more; round++) {
        uint32_t sum = 0;
        more = false;
        FOR_EACH(uint32_t, slot, shape.slots) {
            uint32_t elements = elements_of_slot(plan, shape, slot);
            uint32_t pairs = ((elements + (1u << round) - 1) >> round) / 2;
            if (round == 0)
                plan.pairs_count[slot] = pairs;
            sum += pairs;
            more |= pairs > 0;
        }
        more = any_in_warp(more);
        sum = sum_in_warp(sum);
        if (is_first_in_warp() && sum)
            atomicAdd(&plan.totals[round], sum);
    }
}

DEVICE uint32_t sorted_element(const BatchPlan& plan, uint32_t position)
{
    return plan.values[position] | (plan.keys[position] & kNegative);
}

// Round 0, a thread for some consecutive elements: the second of a pair writes it.
static const uint32_t kElementsPerThread = 4;

KERNEL(kLightThreads, 1) emit_pairs_of_elements(BatchPlan plan, BatchShape shape)
{
    const uint32_t threads_per_window = (shape.n - 1) / kElementsPerThread + 1;
    FOR_EACH(uint32_t, thread, threads_per_window * shape.windows) {
        const uint32_t window = thread / threads_per_window, i = kElementsPerThread * (thread % threads_per_window);
        const uint32_t first_slot = shape.first_slot[window], zero_key = 1u << shape.key_bits[window];
        const uint32_t origin = window * shape.n;
        uint32_t element[kElementsPerThread + 1], slot[kElementsPerThread + 1], start[kElementsPerThread + 1];
        uint32_t first_pair[kElementsPerThread + 1];
        UNROLL for (uint32_t k = 0; k <= kElementsPerThread; k++) {     // the first one is the thread before's last
            uint32_t at = i + k - 1;
            bool inside = at < shape.n;                         // i = 0 has none before: at wraps around
            uint32_t key = inside ? plan.keys[origin + at] : zero_key;
            element[k] = (inside ? plan.values[origin + at] : 0) | (key & kNegative);
            slot[k] = key & shape.key_mask;
        }
        UNROLL for (uint32_t k = 1; k <= kElementsPerThread; k++) {
            start[k] = plan.start[first_slot + slot[k]] - origin;
            first_pair[k] = plan.pairs_first[first_slot + slot[k]];
        }
        UNROLL for (uint32_t k = 1; k <= kElementsPerThread; k++) {
            uint32_t place = i + k - 1 - start[k];
            if (slot[k] != zero_key && place % 2 == 1)
                plan.pairs[first_pair[k] + place / 2] = make_uint2(element[k - 1], element[k]);
        }
    }
}

// Round 0, a thread for each bucket: what it leaves. `first_sum` is the pool index of the round's first sum.
KERNEL(kLightThreads, 1) begin_rounds(BatchPlan plan, BatchShape shape, uint32_t first_sum)
{
    FOR_EACH(uint32_t, slot, shape.slots) {
        uint32_t elements = elements_of_slot(plan, shape, slot);
        BucketState state;
        state.sums = elements / 2;
        state.first_sum = first_sum + plan.pairs_first[slot];
        state.waiting = elements % 2 ? sorted_element(plan, plan.start[slot] + elements - 1) : kNoPoint;
        plan.state[slot] = state;
        plan.pairs_count[slot] = state.pairs();
    }
}

// A later round, a thread for each bucket; the large ones are left to emit_pairs_of_large_buckets.
KERNEL(kLightThreads, 1) emit_pairs(BatchPlan plan, BatchShape shape, uint2* pairs, uint32_t first_sum)
{
    FOR_EACH(uint32_t, slot, shape.slots) {
        BucketState state = plan.state[slot];
        uint32_t first_pair = plan.pairs_first[slot], count = state.pairs();
        if (count > kLargeBucket) {
            plan.large[atomicAdd(plan.large_count, 1u)] = {state, first_pair};
        } else {
            for (uint32_t k = 0; k < count; k++)
                pairs[first_pair + k] = state.pair(k);
        }
        state = state.after_round(first_sum + first_pair);
        plan.state[slot] = state;
        plan.pairs_count[slot] = state.pairs();
    }
}

// A block for each.
KERNEL(kLightThreads, 1) emit_pairs_of_large_buckets(BatchPlan plan, uint2* pairs)
{
    uint32_t buckets = *plan.large_count;
    for (uint32_t b = blockIdx.x; b < buckets; b += gridDim.x) {
        LargeBucket bucket = plan.large[b];
        for (uint32_t k = threadIdx.x, count = bucket.state.pairs(); k < count; k += blockDim.x)
            pairs[bucket.first_pair + k] = bucket.state.pair(k);
    }
}

KERNEL(kLightThreads, 1) collect_buckets(BatchPlan plan, BatchShape shape)
{
    FOR_EACH(uint32_t, slot, shape.slots) {
        BucketState state = plan.state[slot];
        plan.result[slot] = state.sums ? state.first_sum : state.waiting;
    }
}

}  // namespace cuzk
