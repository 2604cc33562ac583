#include "plan.cuh"
#include "plan_kernels.cuh"

#include <algorithm>
#include <vector>

namespace cuzk {

// How often the scalars are read: once would take much memory, once for each batch much time.
static const uint32_t kRecodings = 3;

WindowLayout WindowLayout::of(uint32_t windows, uint32_t per_batch)
{
    WindowLayout layout = WindowLayout();
    const uint32_t narrow = 256 / windows, wide = 256 % windows;
    layout.windows = windows;
    layout.per_batch = per_batch;
    layout.per_recoding = per_batch * ceiling(ceiling(windows, per_batch), kRecodings);
    layout.side_bits = (narrow - 1) / 2;
    for (uint32_t w = 0; w < windows; w++) {
        layout.bits[w] = narrow + (w < wide);
        layout.tiles_of_window[w] = 1u << (layout.bits[w] - 1 - 2 * layout.side_bits);
        layout.tiles += layout.tiles_of_window[w];
    }
    return layout;
}

// A digit costs one addition, and a bucket about one and a half. Batches of some fifty million digits fill the device.
WindowLayout WindowLayout::best_for(size_t n)
{
    static const uint32_t kFewest = 11, kMost = 51;
    static const double kBucketCost = 1.5, kDigitsPerBatch = 50e6;
    uint32_t best = kFewest;
    double least = 0;
    for (uint32_t windows = kFewest; windows <= kMost; windows++) {
        double buckets = 0;
        for (uint32_t w = 0; w < windows; w++)
            buckets += (double)(1u << (256 / windows + (w < 256 % windows) - 1));
        double cost = (double)n * windows + kBucketCost * buckets;
        if (windows == kFewest || cost < least) {
            best = windows;
            least = cost;
        }
    }
    uint32_t batches = std::min<uint32_t>(best, 1 + (uint32_t)((double)n * best / kDigitsPerBatch));
    return of(best, ceiling(best, batches));
}

uint32_t WindowLayout::tag_bits() const
{
    uint32_t bits = 0;
    while (1u << bits < per_batch)
        bits++;
    return bits;
}

uint32_t WindowLayout::first_tile_of(uint32_t window) const
{
    uint32_t tile = 0;
    for (uint32_t w = 0; w < window; w++)
        tile += tiles_of_window[w];
    return tile;
}

BatchShape BatchShape::of(const WindowLayout& layout, uint32_t batch, size_t n)
{
    BatchShape shape = BatchShape();
    const uint32_t first = batch * layout.per_batch;
    shape.windows = std::min(layout.per_batch, layout.windows - first);
    shape.n = (uint32_t)n;
    shape.key_mask = (1u << layout.tag_shift()) - 1;
    for (uint32_t w = 0; w < shape.windows; w++) {
        shape.first_slot[w] = shape.slots;
        shape.key_bits[w] = layout.bits[first + w] - 1;
        shape.slots += (1u << shape.key_bits[w]) + 1;
    }
    shape.first_slot[shape.windows] = shape.slots;
    return shape;
}

// The first batch has the widest windows.
static uint32_t most_slots(const WindowLayout& layout) { return BatchShape::of(layout, 0, 0).slots; }

BatchPlan BatchPlan::in(Carver& carver, const WindowLayout& layout, size_t n)
{
    const size_t elements = n * layout.per_batch, slots = most_slots(layout);
    BatchPlan plan;
    plan.keys = carver.take<uint32_t>(elements);
    plan.values = carver.take<uint32_t>(elements);
    plan.start = carver.take<uint32_t>(slots + 1);
    plan.state = carver.take<BucketState>(slots);
    plan.pairs_count = carver.take<uint32_t>(slots);
    plan.pairs_first = carver.take<uint32_t>(slots);
    plan.totals = carver.take<uint32_t>(kMaxRounds);
    plan.pairs = carver.take<uint2>(elements);
    plan.result = carver.take<uint32_t>(slots);
    plan.large = carver.take<LargeBucket>(elements / kLargeBucket + 1);
    plan.large_count = carver.take<uint32_t>(1);
    return plan;
}

PlanSpace PlanSpace::in(Carver& carver, const WindowLayout& layout, size_t n)
{
    PlanSpace space;
    space.keys = carver.take<uint32_t>(n * layout.per_recoding);
    space.references = carver.take<uint32_t>(n * layout.per_batch);
    space.temporary_bytes = std::max(sort_temporary_bytes(n * layout.per_batch, layout.tag_shift() + layout.tag_bits()),
                                     scan_temporary_bytes(most_slots(layout)));
    space.temporary = carver.take<char>(space.temporary_bytes);
    return space;
}

// The windows from `first` on, and what to add to every scalar (see recode_scalars).
static Recoding recoding_of(const WindowLayout& layout, uint32_t first)
{
    Recoding recoding = Recoding();
    recoding.first = first;
    recoding.end = std::min(first + layout.per_recoding, layout.windows);
    recoding.per_batch = layout.per_batch;
    recoding.tag_shift = layout.tag_shift();
    uint32_t end_of_window = 0;
    for (uint32_t w = 0; w < layout.windows; w++) {
        recoding.bits[w] = (uint8_t)layout.bits[w];
        end_of_window += layout.bits[w];
        recoding.bias[(end_of_window - 1) / 32] |= 1u << (end_of_window - 1) % 32;
    }
    return recoding;
}

void fill_references(const Device& device, cudaStream_t stream, const WindowLayout& layout, const Terms& terms, const PlanSpace& space)
{
    LAUNCH(repeat_references, device.light_grid(), kLightThreads, 0, stream, space.references, terms.base_of, terms.count,
           layout.per_batch);
}

void sort_batch(const Device& device, cudaStream_t stream, const WindowLayout& layout, uint32_t batch, const Terms& terms,
                const PlanSpace& space, const BatchPlan& plan, uint32_t* host_totals)
{
    const uint32_t first = batch * layout.per_batch, in_recoding = first % layout.per_recoding;
    const BatchShape shape = BatchShape::of(layout, batch, terms.count);
    if (in_recoding == 0)
        LAUNCH(recode_scalars, device.light_grid(), kLightThreads, 0, stream, space.keys, terms, recoding_of(layout, first));
    const size_t elements = (size_t)shape.windows * terms.count;
    const uint32_t sorted_bits = shape.windows == 1 ? shape.key_bits[0] + 1 : layout.tag_shift() + layout.tag_bits();
    sort_pairs(space.temporary, space.temporary_bytes, space.keys + (size_t)in_recoding * terms.count, plan.keys,
               space.references, plan.values, elements, sorted_bits, stream);
    CHECK(cudaMemsetAsync(plan.totals, 0, kMaxRounds * sizeof(uint32_t), stream));
    LAUNCH(find_bucket_starts, device.light_grid(), kLightThreads, 0, stream, plan, shape);
    LAUNCH(count_pairs, device.light_grid() / 4, kLightThreads, 0, stream, plan, shape);
    CHECK(cudaMemcpyAsync(host_totals, plan.totals, kMaxRounds * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream));
}

void list_pairs(const Device& device, cudaStream_t stream, const BatchShape& shape, uint32_t first_sum,
                const PlanSpace& space, const BatchPlan& plan, const uint32_t* host_totals)
{
    uint32_t done = 0;
    for (uint32_t round = 0; round == 0 || (round < kMaxRounds && host_totals[round]); done += host_totals[round++]) {
        exclusive_sum(space.temporary, space.temporary_bytes, plan.pairs_count, plan.pairs_first, shape.slots, stream);
        uint2* pairs = plan.pairs + done;
        if (round == 0) {
            LAUNCH(emit_pairs_of_elements, device.light_grid(), kLightThreads, 0, stream, plan, shape);
            LAUNCH(begin_rounds, device.light_grid(), kLightThreads, 0, stream, plan, shape, first_sum);
            continue;
        }
        CHECK(cudaMemsetAsync(plan.large_count, 0, sizeof(uint32_t), stream));
        LAUNCH(emit_pairs, device.light_grid(), kLightThreads, 0, stream, plan, shape, pairs, first_sum + done);
        LAUNCH(emit_pairs_of_large_buckets, device.multiprocessors, kLightThreads, 0, stream, plan, pairs);
    }
    LAUNCH(collect_buckets, device.light_grid(), kLightThreads, 0, stream, plan, shape);
}

}  // namespace cuzk
