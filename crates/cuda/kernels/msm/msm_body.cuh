#pragma once
#include "msm.cuh"

#include <algorithm>

namespace cuzk {

// Results come down through the pinned memory, behind the totals of the rounds.
inline char* pinned_results(const Device& device) { return device.pinned + 4096; }

inline void download_points(const Device& device, void* to, const uint4* from, size_t bytes)
{
    char* results = pinned_results(device);
    CHECK(cudaMemcpyAsync(results, from, bytes, cudaMemcpyDeviceToHost, device.main));
    CHECK(cudaStreamSynchronize(device.main));
    memcpy(to, results, bytes);
}

template<class F> Msm<F>::Msm(const Device& device, Carver& carver, const WindowLayout& layout, size_t n)
    : device(device), layout(layout), space(PlanSpace::in(carver, layout, n)), adder(device, carver)
{
    const size_t elements = n * layout.per_batch;
    for (BatchPlan& plan : plans)
        plan = BatchPlan::in(carver, layout, n);
    sums = PointArray<F>::in(carver.take<uint4>(PointArray<F>::words(elements)), elements);
    const size_t buckets = (size_t)layout.tiles << 2 * layout.side_bits;    // as many points: tiles are folded twice, in halves
    folded = PointArray<F>::in(carver.take<uint4>(PointArray<F>::words(buckets)), buckets);
    infinity = carver.take<uint4>(2 * kWords<F>);
    for (Node<F>*& array : nodes)
        array = carver.take<Node<F>>(folded_sums().nodes());
    tile_points = carver.take<uint4>(TilePoints<F>::bytes(layout.tiles) / sizeof(uint4));
    if (4096 + TilePoints<F>::bytes(layout.tiles) > Device::kPinnedBytes)
        UNSUPPORTED("more tiles than the pinned memory holds points for");
}

template<class F> NodeInputs<F> Msm<F>::folded_sums() const
{
    const uint32_t side = 1u << layout.side_bits, half_tile = side * side / 2;
    return {folded, side, layout.tiles, half_tile, side / 2, layout.tiles, half_tile, (size_t)layout.tiles * half_tile};
}

template<class F> void Msm<F>::add_batch(uint32_t batch, const BatchShape& shape, const PointPool<F>& pool)
{
    const BatchPlan& plan = plans[batch % 2];
    const uint32_t* totals = host_totals(batch);
    CHECK(cudaStreamWaitEvent(device.main, device.planned[batch % 2], 0));
    uint32_t done = 0;
    for (uint32_t round = 0; round < kMaxRounds && totals[round]; done += totals[round++])
        adder.add(ListedPairs<F>{pool, plan.pairs + done, done}, totals[round], device.main);
    fold_batch(batch, shape, pool);
    CHECK(cudaEventRecord(device.added[batch % 2], device.main));
}

// The first fold, which reads the buckets.
template<class F> void Msm<F>::fold_batch(uint32_t batch, const BatchShape& shape, const PointPool<F>& pool)
{
    FoldedTiles<F> source;
    source.pool = pool;
    source.buckets = plans[batch % 2].result;
    source.folded = folded;
    source.side_bits = layout.side_bits;
    source.tiles = 0;
    source.first_right_fold = layout.first_tile_of(batch * layout.per_batch);
    source.first_lower_fold = layout.tiles + source.first_right_fold;
    for (uint32_t w = 0; w < shape.windows; w++)
        for (uint32_t slot = 0; slot < 1u << shape.key_bits[w]; slot += 1u << 2 * layout.side_bits)
            source.first_slot[source.tiles++] = shape.first_slot[w] + slot;
    adder.add(source, (size_t)source.tiles << 2 * layout.side_bits, device.main);
}

// All windows together: the folds that remain, then nodes.
template<class F> void Msm<F>::reduce_tiles(void* points)
{
    for (uint32_t bits = layout.side_bits - 1; bits-- > 0;) {
        FoldedMatrices<F> source = {folded, layout.side_bits, layout.tiles, bits, layout.side_bits + bits};
        adder.add(source, (size_t)(2 * layout.tiles) << (layout.side_bits + bits), device.main);
    }
    const Node<F>* rows = reduce_arrays(folded_sums(), nodes[0], nodes[1], device.main);
    make_tile_points<F>(tile_points, rows, rows + layout.tiles, layout.tiles, device.main);
    download_points(device, points, tile_points, TilePoints<F>::bytes(layout.tiles));
}

template<class F> void Msm<F>::run(const Bases& bases, const Terms& terms, void* points)
{
    if (bases.count >= kNoPoint - terms.count * layout.per_batch)
        UNSUPPORTED("more points than references can name");
    CHECK(cudaEventRecord(device.begun, device.main));
    CHECK(cudaStreamWaitEvent(device.side, device.begun, 0));
    for (cudaEvent_t event : device.added)      // both plans are free
        CHECK(cudaEventRecord(event, device.main));
    adder.begin(device.main);
    CHECK(cudaMemsetAsync(infinity, 0, 2 * kWords<F> * sizeof(uint4), device.main));
    fill_references(device, device.side, layout, terms, space);

    const PointPool<F> pool = {bases.points, sums, infinity, bases.count};
    for (uint32_t batch = 0; batch <= layout.batches(); batch++) {
        // While batch - 1 is added, sort this one; its pairs are listed once those additions are enqueued.
        const bool plans_one = batch < layout.batches();
        if (plans_one) {
            CHECK(cudaStreamWaitEvent(device.side, device.added[batch % 2], 0));
            sort_batch(device, device.side, layout, batch, terms, space, plans[batch % 2], host_totals(batch));
            CHECK(cudaEventRecord(device.counted[batch % 2], device.side));
        }
        if (batch > 0)
            add_batch(batch - 1, BatchShape::of(layout, batch - 1, terms.count), pool);
        if (plans_one) {
            CHECK(cudaEventSynchronize(device.counted[batch % 2]));
            list_pairs(device, device.side, BatchShape::of(layout, batch, terms.count), bases.count, space,
                       plans[batch % 2], host_totals(batch));
            CHECK(cudaEventRecord(device.planned[batch % 2], device.side));
        }
    }
    reduce_tiles(points);
}

template<class F> PointSum<F>::PointSum(const Device& device, Carver& carver, size_t count)
    : device(device), capacity(count / 2 + 1), adder(device, carver)
{
    infinity = carver.take<uint4>(2 * kWords<F>);
    jacobian = carver.take<uint4>(3 * kWords<F>);
    sums = PointArray<F>::in(carver.take<uint4>(PointArray<F>::words(capacity)), capacity);
}

template<class F> void PointSum<F>::run(const Bases& bases, const uint32_t* indices, uint32_t count, void* point)
{
    adder.begin(device.main);
    CHECK(cudaMemsetAsync(infinity, 0, 2 * kWords<F> * sizeof(uint4), device.main));
    const PointPool<F> pool = {bases.points, sums, infinity, bases.count};
    uint32_t left = ceiling(count, 2u);
    adder.add(IndexedPairs<F>{pool, indices, count}, left, device.main);
    while (left > 1) {
        uint32_t half = ceiling(left, 2u);
        adder.add(FoldedRun<F>{sums, half}, left - half, device.main);
        left = half;
    }
    const Place<uint4> sum = count > 0 ? sums[0] : Place<uint4>{infinity, infinity + kWords<F>};
    make_jacobian<F>(jacobian, sum, device.main);
    download_points(device, point, jacobian, 3 * kWords<F> * sizeof(uint4));
}

#define INSTANTIATE_MSM(F) \
    template class Msm<F>; \
    template class PointSum<F>;

}  // namespace cuzk
