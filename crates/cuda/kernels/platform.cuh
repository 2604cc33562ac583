// What every kernel file needs from the platform: CUDA, or the emulation that runs the same kernels as loops on the CPU
// (CUZK_EMULATE). No other file asks which of the two it is compiled for, except where it uses machine instructions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#ifdef CUZK_EMULATE
# include "emulate.h"
#else
# include <cuda_runtime.h>
# define DEVICE __device__ __forceinline__
# define BOTH __host__ __device__ __forceinline__
# define KERNEL(threads, blocks_per_multiprocessor) __launch_bounds__(threads, blocks_per_multiprocessor) __global__ void
# define SHARED_WORDS(name) extern __shared__ uint4 name[]
# define BLOCK_SHARED(type, name) __shared__ type name
# define BARRIER() __syncthreads()
# define UNROLL _Pragma("unroll")
# define NO_UNROLL _Pragma("unroll 1")
#endif

namespace cuzk {

// A failed call. It crosses the C boundary as CuzkError.
struct Failure {
    int code;
    const char* file;
    int line;
    std::string call, text;
};

// Errors of ours, beside CUDA's codes.
enum { kUnsupported = -1, kNoMemory = -2 };

inline void check(cudaError_t error, const char* call, const char* file, int line)
{
    if (error != cudaSuccess)
        throw Failure{(int)error, file, line, call, cudaGetErrorString(error)};
}
#define CHECK(call) ::cuzk::check((cudaError_t)(call), #call, __FILE__, __LINE__)
#define UNSUPPORTED(text) throw ::cuzk::Failure{::cuzk::kUnsupported, __FILE__, __LINE__, __func__, text}

// LAUNCH runs a kernel without barriers, LAUNCH_WITH_BARRIERS any kernel; only the emulation distinguishes them. A kernel
// with commas in its template arguments goes in parentheses. Shared memory beyond 48 KiB has to be asked for.
#ifdef CUZK_EMULATE
# define LAUNCH(kernel, grid, block, shared, stream, ...) \
    do { \
        ::cuzk::emulate::run(grid, block, stream, [&] { (kernel)(__VA_ARGS__); }); \
        ::cuzk::check(cudaGetLastError(), "launch of " #kernel, __FILE__, __LINE__); \
    } while (0)
# define LAUNCH_WITH_BARRIERS(kernel, grid, block, shared, stream, ...) \
    do { \
        ::cuzk::emulate::run_with_barriers(grid, block, shared, stream, [&] { (kernel)(__VA_ARGS__); }); \
        ::cuzk::check(cudaGetLastError(), "launch of " #kernel, __FILE__, __LINE__); \
    } while (0)
#else
# define LAUNCH(kernel, grid, block, shared, stream, ...) \
    do { \
        auto launched_ = kernel; \
        size_t shared_ = shared; \
        if (shared_ > 48 << 10) \
            CHECK(cudaFuncSetAttribute(launched_, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_)); \
        launched_<<<(unsigned)(grid), (unsigned)(block), shared_, stream>>>(__VA_ARGS__); \
        ::cuzk::check(cudaGetLastError(), "launch of " #kernel, __FILE__, __LINE__); \
    } while (0)
# define LAUNCH_WITH_BARRIERS LAUNCH
#endif

template<class T> BOTH T ceiling(T a, T b) { return (a + b - 1) / b; }

// Cuts a workspace into aligned arrays. With no base it only adds up: the same code that lays out a stage's memory says
// how much it needs.
class Carver {
    char* base;
    size_t used = 0;

public:
    explicit Carver(void* workspace) : base((char*)workspace) {}

    template<class T> T* take(size_t count)
    {
        char* at = base ? base + used : nullptr;
        used += (count * sizeof(T) + 255) / 256 * 256;
        return (T*)at;
    }
    size_t bytes() const { return used; }
};

// Light kernels: a thread for each element, in strides of the grid.
static const uint32_t kLightThreads = 256;
#define FOR_EACH(Index, i, n) \
    for (Index i = threadIdx.x + (Index)blockIdx.x * blockDim.x; i < (n); i += (Index)gridDim.x * blockDim.x)

// Streams, events and the pinned memory that results come down through: made once for a device.
struct Device {
    int ordinal;
    uint32_t multiprocessors;
    cudaStream_t main, side;            // side runs first where both want a multiprocessor
    cudaEvent_t counted[2], planned[2], added[2], begun;
    uint32_t* scratch;                  // one word on the device, for small answers
    char* pinned;
    static const size_t kPinnedBytes = 4 << 20;

    uint32_t light_grid() const { return multiprocessors * 16; }
};

}  // namespace cuzk
