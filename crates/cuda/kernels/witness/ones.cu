#include "witness.cuh"
#include "../msm/plan.cuh"

namespace cuzk {

DEVICE unsigned long long ones_of(const OnesQuery& query, uint32_t word)
{   return query.bits[word] & query.density[word];   }

KERNEL(256, 1) count_ones(uint32_t* counts, OnesQuery query)
{
    FOR_EACH(uint32_t, i, query.words)
        counts[i] = (uint32_t)__popcll(ones_of(query, i));
}

// A thread for each word, in the order of the ones.
KERNEL(256, 1) emit_ones(uint32_t* indices, const uint32_t* firsts, OnesQuery query)
{
    FOR_EACH(uint32_t, i, query.words) {
        const unsigned long long density = query.density[i];
        const uint32_t before = query.first_base + query.ranks[i];
        uint32_t at = firsts[i];
        for (unsigned long long left = ones_of(query, i); left; left &= left - 1) {
            const uint32_t bit = (uint32_t)__ffsll((long long)left) - 1;
            indices[at++] = before + (uint32_t)__popcll(density & ((1ull << bit) - 1));
        }
    }
}

struct OnesSpace {
    uint32_t *counts, *firsts;
    void* temporary;
    size_t temporary_bytes;

    OnesSpace(Carver& carver, uint32_t words) : temporary_bytes(scan_temporary_bytes(words + 1))
    {
        counts = carver.take<uint32_t>(words + 1);
        firsts = carver.take<uint32_t>(words + 1);
        temporary = carver.take<char>(temporary_bytes);
    }
};

size_t ones_workspace_bytes(uint32_t words)
{
    Carver carver(nullptr);
    OnesSpace space(carver, words);
    return carver.bytes();
}

uint32_t list_ones(const Device& device, const OnesQuery& query, uint32_t* indices, void* workspace)
{
    Carver carver(workspace);
    const OnesSpace space(carver, query.words);
    // one entry more than there are words: its prefix sum is the total
    CHECK(cudaMemsetAsync(space.counts + query.words, 0, sizeof(uint32_t), device.main));
    LAUNCH(count_ones, device.light_grid(), 256, 0, device.main, space.counts, query);
    exclusive_sum(space.temporary, space.temporary_bytes, space.counts, space.firsts, query.words + 1, device.main);
    LAUNCH(emit_ones, device.light_grid(), 256, 0, device.main, indices, (const uint32_t*)space.firsts, query);
    CHECK(cudaMemcpyAsync(device.pinned, space.firsts + query.words, sizeof(uint32_t), cudaMemcpyDeviceToHost, device.main));
    CHECK(cudaStreamSynchronize(device.main));
    return *(const uint32_t*)device.pinned;
}

}  // namespace cuzk
