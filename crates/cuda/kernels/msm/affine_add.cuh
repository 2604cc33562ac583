// Batches of affine additions with one inversion for some hundred pairs of a thread (Montgomery's trick).
//
// An affine addition with a batched inversion costs 5M+1S, an XYZZ mixed addition 8M+2S: this is where the speed comes
// from. Everything else exists to feed this one kernel with long lists of independent pairs.
#pragma once
#include "pool.cuh"
#include "tiling.cuh"

namespace cuzk {

// Shared memory holds the operands of each thread's next addition: copied there asynchronously they need no registers
// while they travel. Word k of thread t lies at k * kAddThreads + t, free of bank conflicts. No barriers: every thread
// reads only what it copied itself.
enum { kX1, kY1, kX2, kY2, kPrefix, kInverse, kStagedFields, kSlope = kPrefix };
DEVICE void copy_async(uint4* shared, const uint4* global)
{
#ifdef __CUDA_ARCH__
    // .ca, through L1: a sector holds two of these words, and .cg would fetch it twice (20% slower)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"((uint32_t)__cvta_generic_to_shared(shared)),
                 "l"(global) : "memory");
#else
    *shared = *global;
#endif
}
DEVICE void close_copy_group()
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template<int N> DEVICE void wait_for_all_but()
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
#endif
}

enum Addition { kGeneric, kDoubling, kLeftOnly, kRightOnly, kInfinity };

// The denominator of the chord's (or tangent's) slope, never zero. Nearly always the first return. Equal points, opposite
// points and infinity (0, 0) are told apart here.
template<class F, class Source>
DEVICE Addition classify(F& denominator, const F& x1, const F& x2, const Source& source, uint2 refs)
{
    denominator = x2 - x1;
    if (!denominator.is_zero() && !x1.is_zero() && !x2.is_zero())
        return kGeneric;

    F y1 = load_element<F>(source.place(refs.x).y), y2 = load_element<F>(source.place(refs.y).y);
    y1.cneg((refs.x & kNegative) != 0);
    y2.cneg((refs.y & kNegative) != 0);
    bool infinity1 = x1.is_zero() && y1.is_zero(), infinity2 = x2.is_zero() && y2.is_zero();
    if (!infinity1 && !infinity2) {
        if (!denominator.is_zero())
            return kGeneric;                    // a point with x = 0
        F difference = y1 - y2;
        if (difference.is_zero() && !y1.is_zero()) {
            denominator = y1 + y1;
            return kDoubling;
        }
    }
    denominator = F::one();
    return infinity2 ? kLeftOnly : infinity1 ? kRightOnly : kInfinity;
}

DEVICE uint32_t next_tile(uint32_t* counter)
{
    BLOCK_SHARED(uint32_t, tile);
    BARRIER();
    if (threadIdx.x == 0)
        tile = atomicAdd(counter, 1u);
    BARRIER();
    return tile;
}

// What a worker has in shared memory and in `scratch`.
template<class F> struct Stage {
    uint4* shared;
    uint4* scratch;                             // prefix products, kAddThreads * kLaneWords words for each pair

    DEVICE uint4* field(uint32_t which) const { return shared + which * kLaneWords<F> * kAddThreads; }
    DEVICE uint4* prefix(uint32_t j) const { return scratch + (size_t)kAddThreads * kLaneWords<F> * j; }
    DEVICE F get(uint32_t which) const { return load_share<F>(field(which), kAddThreads); }
    DEVICE void put(uint32_t which, const F& value) const { store_share<F>(field(which), kAddThreads, value); }
    DEVICE F get_signed(uint32_t which, uint32_t ref) const
    {
        F value = get(which);
        value.cneg((ref & kNegative) != 0);
        return value;
    }
    DEVICE void fetch(uint32_t which, const uint4* element) const
    {
        UNROLL for (uint32_t k = 0; k < kLaneWords<F>; k++)
            copy_async(field(which) + k * kAddThreads, element + lane_offset<F>() + k);
    }
    DEVICE void fetch_prefix(uint32_t j) const
    {
        UNROLL for (uint32_t k = 0; k < kLaneWords<F>; k++)
            copy_async(field(kPrefix) + k * kAddThreads, prefix(j) + k * kAddThreads);
    }
};

// Multiplies up the denominators of a worker's pairs first, first + stride, ..., keeps every prefix product, and returns
// the product. Reads only x coordinates: two stages of (x1, x2), so that while one pair is multiplied the next one is on
// its way, and the references of the one after that.
template<class F, class Source>
DEVICE F multiply_denominators(const Source& source, const Stage<F>& stage, uint32_t first, uint32_t stride, uint32_t pairs)
{
    auto fetch = [&](uint32_t j, uint2 refs) {
        stage.fetch(j % 2 * 2, source.place(refs.x).x);
        stage.fetch(j % 2 * 2 + 1, source.place(refs.y).x);
    };
    F product = F::one();
    uint2 refs = make_uint2(0, 0), refs1 = refs, refs2 = refs;
    if (pairs > 0) {
        refs = source.pair(first);
        fetch(0, refs);
    }
    close_copy_group();
    if (pairs > 1)
        refs1 = source.pair(first + stride);
    NO_UNROLL for (uint32_t j = 0; j < pairs; j++) {
        if (j + 1 < pairs)
            fetch(j + 1, refs1);
        close_copy_group();
        if (j + 2 < pairs)
            refs2 = source.pair(first + (j + 2) * stride);
        wait_for_all_but<1>();
        F denominator;
        classify(denominator, stage.get(j % 2 * 2), stage.get(j % 2 * 2 + 1), source, refs);
        store_share<F>(stage.prefix(j), kAddThreads, product);
        product *= denominator;
        refs = refs1;
        refs1 = refs2;
    }
    wait_for_all_but<0>();
    return product;
}

// One addition of the backward pass, whose operands are staged. `fetch_next` may overwrite all of them but y1.
template<class F, class Source, class FetchNext>
DEVICE void add_staged(const Source& source, const Stage<F>& stage, uint2 refs, Place<uint4> out, const FetchNext& fetch_next)
{
    F denominator;
    Addition kind = classify(denominator, stage.get(kX1), stage.get(kX2), source, refs);
    if (kind > kDoubling) {                                 // the denominator is 1, the inverse stays
        bool right = kind == kRightOnly;
        F x3 = right ? stage.get(kX2) : stage.get(kX1);
        F y3 = right ? stage.get_signed(kY2, refs.y) : stage.get_signed(kY1, refs.x);
        if (kind == kInfinity) {
            x3.zero();
            y3.zero();
        }
        store_element<F>(out.x, x3);
        store_element<F>(out.y, y3);
        fetch_next();
        return;
    }
    // One multiplication in the code, four times through it: inlined everywhere they do not fit the instruction cache.
    // What is not being multiplied waits in shared memory, for more threads.
    F a = stage.get(kInverse), b = stage.get(kPrefix);
    NO_UNROLL for (int step = 0;; step++) {
        a *= b;
        if (step == 0) {                                    // 1 / denominator
            stage.put(kSlope, a);
            a = stage.get(kInverse);
            b = denominator;
        } else if (step == 1) {                             // the inverse for the pairs before
            stage.put(kInverse, a);
            a = stage.get(kSlope);
            if (kind == kGeneric) {
                b = stage.get_signed(kY2, refs.y) - stage.get_signed(kY1, refs.x);
            } else {
                b = squared<F>(stage.get(kX1));
                b = b + b + b;
            }
        } else if (step == 2) {                             // the slope
            F x3 = squared<F>(a);
            b = stage.get(kX1);
            x3 -= b;
            x3 -= stage.get(kX2);
            store_element<F>(out.x, x3);
            b -= x3;
            fetch_next();
        } else {
            a -= stage.get_signed(kY1, refs.x);
            store_element<F>(out.y, a);
            break;
        }
    }
}

// Peels the inverse of each denominator off the inverse of all, last pair first, and adds. y1 is needed until the end of
// an addition; everything else for the next one can come earlier.
template<class F, class Source>
DEVICE void add_backwards(const Source& source, const Stage<F>& stage, uint32_t first, uint32_t stride, uint32_t pairs)
{
    auto fetch_most = [&](uint32_t j, uint2 refs) {
        Place<const uint4> a = source.place(refs.x), b = source.place(refs.y);
        stage.fetch(kX1, a.x);
        stage.fetch(kX2, b.x);
        stage.fetch(kY2, b.y);
        stage.fetch_prefix(j);
    };
    uint2 refs = make_uint2(0, 0), refs1 = refs;
    if (pairs > 0) {
        refs = source.pair(first + (pairs - 1) * stride);
        fetch_most(pairs - 1, refs);
        stage.fetch(kY1, source.place(refs.x).y);
    }
    if (pairs > 1)
        refs1 = source.pair(first + (pairs - 2) * stride);
    close_copy_group();
    NO_UNROLL for (uint32_t j = pairs; j-- > 0;) {
        wait_for_all_but<0>();
        add_staged<F>(source, stage, refs, source.result(first + j * stride), [&] {
            if (j > 0)
                fetch_most(j - 1, refs1);
        });
        if (j > 0)
            stage.fetch(kY1, source.place(refs1.x).y);
        close_copy_group();
        refs = refs1;
        if (j > 1)
            refs1 = source.pair(first + (j - 2) * stride);
    }
}

// Worker t of a block adds the pairs t, t + workers, t + 2 workers, ... of a tile.
//
// What this kernel runs out of is, in this order: the multiplier pipe (80-85% busy on an H200), then warps to hide the
// latency of carry chains (five to a scheduler; more would spill registers), then instruction cache.
template<class F, class Source>
KERNEL(kAddThreads, Field<F>::kBlocks) batch_affine_add(Source source, uint32_t count, Tiling tiling, uint4* scratch, uint32_t* counter)
{
    SHARED_WORDS(staged);
    const uint32_t workers = kAddThreads / kLanes<F>, worker = threadIdx.x / kLanes<F>;
    const Stage<F> stage = {staged + threadIdx.x,
                            scratch + (size_t)blockIdx.x * (kAddThreads * kLaneWords<F> * tiling.large) + threadIdx.x};
    NO_UNROLL for (;;) {
        uint32_t first, pairs;
        tiling.locate(next_tile(counter), first, pairs);
        if (first >= count)
            break;
        first += worker;
        uint32_t available = first < count ? (count - 1 - first) / workers + 1 : 0;
        pairs = pairs < available ? pairs : available;
        F product = multiply_denominators<F>(source, stage, first, workers, pairs);
        stage.put(kInverse, product.reciprocal());      // by pairs of threads: all of them come here
        add_backwards<F>(source, stage, first, workers, pairs);
    }
}

}  // namespace cuzk
