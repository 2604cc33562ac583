// Sorting and prefix sums: CUB's, in a translation unit of its own.
#include "plan.cuh"

#ifdef CUZK_EMULATE
# include <algorithm>
# include <numeric>
# include <vector>

namespace cuzk {

size_t sort_temporary_bytes(size_t, uint32_t) { return 8; }
size_t scan_temporary_bytes(size_t) { return 8; }

void sort_pairs(void*, size_t, const uint32_t* keys, uint32_t* sorted_keys, const uint32_t* values,
                uint32_t* sorted_values, size_t n, uint32_t bits, cudaStream_t)
{
    const uint32_t mask = (1u << bits) - 1;
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return (keys[a] & mask) < (keys[b] & mask); });
    for (size_t i = 0; i < n; i++) {
        sorted_keys[i] = keys[order[i]];
        sorted_values[i] = values[order[i]];
    }
}

void exclusive_sum(void*, size_t, const uint32_t* in, uint32_t* out, size_t n, cudaStream_t)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = in[i];
        out[i] = sum;
        sum += x;
    }
}

}  // namespace cuzk
#else
# include <cub/cub.cuh>

namespace cuzk {

size_t sort_temporary_bytes(size_t n, uint32_t bits)
{
    size_t bytes = 0;
    uint32_t* none = nullptr;
    CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, (const uint32_t*)none, none, (const uint32_t*)none, none,
                                          (uint32_t)n, 0, bits));
    return bytes;
}

void sort_pairs(void* temporary, size_t bytes, const uint32_t* keys, uint32_t* sorted_keys, const uint32_t* values,
                uint32_t* sorted_values, size_t n, uint32_t bits, cudaStream_t stream)
{
    CHECK(cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, sorted_keys, values, sorted_values, (uint32_t)n, 0, bits,
                                          stream));
}

size_t scan_temporary_bytes(size_t n)
{
    size_t bytes = 0;
    uint32_t* none = nullptr;
    CHECK(cub::DeviceScan::ExclusiveSum(nullptr, bytes, none, none, (uint32_t)n));
    return bytes;
}

void exclusive_sum(void* temporary, size_t bytes, const uint32_t* in, uint32_t* out, size_t n, cudaStream_t stream)
{   CHECK(cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, (uint32_t)n, stream));   }

}  // namespace cuzk
#endif
