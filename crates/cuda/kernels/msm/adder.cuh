// Launches of batch_affine_add.
#pragma once
#include "sources.cuh"
#include "tiling.cuh"

namespace cuzk {

// Space for prefix products, and a counter of its own for the tiles of each launch.
template<class F> class Adder {
    static const uint32_t kMaxLaunches = 2048;
    static const uint32_t kMostPairs = 160, kLeastPairs = 80;   // per worker, that share an inversion
    static const uint32_t kTilesPerBlock = 6;                   // about so many, within these limits
    static const uint32_t kRampFrom = 240;                      // pairs per worker: with fewer, all tiles are of one size

    const Device& device;
    uint4* scratch;
    uint32_t *counters, launches = 0;

    uint32_t resident_blocks() const { return device.multiprocessors * Field<F>::kBlocks; }
    Tiling tiling_of(size_t count, size_t blocks) const;

public:
    Adder(const Device& device, Carver& carver) : device(device)
    {
        scratch = carver.take<uint4>((size_t)resident_blocks() * kAddThreads * kLaneWords<F> * kMostPairs);
        counters = carver.take<uint32_t>(kMaxLaunches);
    }
    void begin(cudaStream_t stream)
    {
        launches = 0;
        CHECK(cudaMemsetAsync(counters, 0, kMaxLaunches * sizeof(uint32_t), stream));
    }
    template<class Source> void add(const Source& source, size_t count, cudaStream_t stream);
};

}  // namespace cuzk
