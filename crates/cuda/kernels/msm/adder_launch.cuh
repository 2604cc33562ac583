// The body of Adder::add, for the files that instantiate it: one for each source and field, so that they compile in
// parallel.
#pragma once
#include "adder.cuh"
#include "affine_add.cuh"

#include <algorithm>

namespace cuzk {

template<class F> Tiling Adder<F>::tiling_of(size_t count, size_t blocks) const
{
    Tiling tiling = Tiling();
    tiling.workers = kAddThreads / kLanes<F>;
    const uint32_t share = (uint32_t)ceiling<size_t>(count, blocks * tiling.workers);   // pairs per worker in the launch
    if (share < kRampFrom) {            // equal tiles, as many for each block
        tiling.tiles_per_step = 1;
        tiling.large_tiles = ~0u;
        tiling.large = tiling.small = ceiling(share, ceiling(share, kMostPairs + 0));
        return tiling;
    }
    tiling.steps = Field<F>::kBlocks;
    tiling.tiles_per_step = device.multiprocessors;
    tiling.unit = std::min<uint32_t>(kMostPairs, std::max<uint32_t>(kLeastPairs, share / kTilesPerBlock)) / tiling.steps;
    tiling.large = tiling.unit * tiling.steps;
    tiling.small = ceiling(tiling.large, 4u);
    size_t ramp = (size_t)tiling.ramp_pairs() * tiling.workers, rest = count > ramp ? count - ramp : 0;
    tiling.large_tiles = (uint32_t)(rest * 3 / 4 / (tiling.workers * tiling.large));
    return tiling;
}

template<class F> template<class Source> void Adder<F>::add(const Source& source, size_t count, cudaStream_t stream)
{
    if (count == 0)
        return;
    if (launches == kMaxLaunches)
        begin(stream);
    const size_t blocks = std::min<size_t>(resident_blocks(), ceiling<size_t>(count, kAddThreads / kLanes<F>));
    const size_t shared = (size_t)kStagedFields * kLaneWords<F> * kAddThreads * sizeof(uint4);
    auto kernel = batch_affine_add<F, Source>;
#ifndef CUZK_EMULATE
    const int percent = (int)(100 * Field<F>::kBlocks * (shared + 1024) / (228 * 1024) + 1);
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
#endif
    LAUNCH_WITH_BARRIERS(kernel, blocks, kAddThreads, shared, stream, source, (uint32_t)count, tiling_of(count, blocks),
                         scratch, counters + launches);
    launches++;
}

#define INSTANTIATE_ADDER(F, Source) template void Adder<F>::add(const Source<F>&, size_t, cudaStream_t);

}  // namespace cuzk
