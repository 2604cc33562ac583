// Enough of CUDA to run kernels on the CPU: a block's threads one after the other, or, where they meet at barriers, as
// coroutines. What it cannot show is races and warp-level exchange.
#pragma once
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#define __global__
#undef __device__
#define __device__
#undef __host__
#define __host__
#define __forceinline__ inline
#define DEVICE inline
#define BOTH inline
#define KERNEL(threads, blocks_per_multiprocessor) void
#define SHARED_WORDS(name) uint4* name = ::cuzk::emulate::shared.data()
#define BLOCK_SHARED(type, name) static thread_local type name
#define BARRIER() ::cuzk::emulate::barrier()
#define UNROLL
#define NO_UNROLL

struct uint2 { uint32_t x, y; };
struct alignas(16) uint4 { uint32_t x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

struct EmulatedDim { uint32_t x; };
inline thread_local EmulatedDim threadIdx, blockIdx, blockDim, gridDim;

inline uint32_t atomicAdd(uint32_t* p, uint32_t v) { uint32_t old = *p; *p += v; return old; }
inline uint32_t atomicMin(uint32_t* p, uint32_t v) { uint32_t old = *p; *p = v < old ? v : old; return old; }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
inline uint32_t __brev(uint32_t x)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= ((x >> i) & 1) << (31 - i);
    return r;
}
template<class T> inline T __ldg(const T* p) { return *p; }

typedef int cudaError_t;
typedef void* cudaStream_t;
typedef void* cudaEvent_t;

namespace cuzk { namespace emulate {

inline thread_local std::vector<uint4> shared(1);
inline thread_local ucontext_t scheduler;
inline thread_local std::vector<ucontext_t> threads;
inline thread_local std::vector<char> finished;
inline thread_local uint32_t running;

inline void barrier() { swapcontext(&threads[running], &scheduler); }

template<class Body> void run(size_t grid, size_t block, cudaStream_t, const Body& body)
{
    gridDim.x = (uint32_t)grid;
    blockDim.x = (uint32_t)block;
    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++)
            body();
}

// makecontext passes no pointer portably, so the body goes through a variable of the thread.
template<class Body> struct Entry {
    static inline thread_local const Body* body;
    static void start()
    {
        (*body)();
        finished[running] = 1;
    }
};

template<class Body> void run_with_barriers(size_t grid, size_t block, size_t shared_bytes, cudaStream_t, const Body& body)
{
    static const size_t kStackBytes = 64 << 10;
    static thread_local std::vector<char> stacks;
    if (stacks.size() < block * kStackBytes)
        stacks.resize(block * kStackBytes);
    shared.assign(shared_bytes / sizeof(uint4) + 1, uint4{0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee});
    threads.resize(block);
    Entry<Body>::body = &body;
    gridDim.x = (uint32_t)grid;
    blockDim.x = (uint32_t)block;
    for (uint32_t b = 0; b < grid; b++) {
        finished.assign(block, 0);
        for (uint32_t t = 0; t < block; t++) {
            getcontext(&threads[t]);
            threads[t].uc_stack.ss_sp = &stacks[t * kStackBytes];
            threads[t].uc_stack.ss_size = kStackBytes;
            threads[t].uc_link = &scheduler;
            makecontext(&threads[t], Entry<Body>::start, 0);
        }
        // From the last thread to the first: an order in which missing barriers show.
        for (bool any = true; any;) {
            any = false;
            for (uint32_t t = (uint32_t)block; t-- > 0;) {
                if (finished[t])
                    continue;
                blockIdx.x = b;
                threadIdx.x = t;
                running = t;
                swapcontext(&scheduler, &threads[t]);
                any = true;
            }
        }
    }
}

// The emulated device's memory has an end, so that running out of it can be tested.
static const size_t kMemoryBytes = (size_t)4 << 30;
inline size_t allocated = 0;

}}  // namespace cuzk::emulate

// As CUDA does: a call that fails leaves its error behind, for the thread's next cudaGetLastError.
namespace cuzk { namespace emulate {
inline thread_local int last_error = 0;
inline int failed(int code) { return last_error = code; }
}}  // namespace cuzk::emulate

enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaHostRegisterPortable = 1 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
inline int cudaGetLastError()
{
    const int error = cuzk::emulate::last_error;
    cuzk::emulate::last_error = cudaSuccess;
    return error;
}
inline const char* cudaGetErrorString(int code) { return code == cudaErrorMemoryAllocation ? "out of memory" : "error"; }
inline int cudaMalloc(void** p, size_t n)
{
    size_t with_header = n + 64;
    if (with_header > cuzk::emulate::kMemoryBytes - __atomic_load_n(&cuzk::emulate::allocated, __ATOMIC_SEQ_CST))
        return cuzk::emulate::failed(cudaErrorMemoryAllocation);
    char* block = (char*)aligned_alloc(64, (with_header + 63) / 64 * 64);
    __atomic_add_fetch(&cuzk::emulate::allocated, with_header, __ATOMIC_SEQ_CST);
    memcpy(block, &with_header, sizeof with_header);
    memset(block + 64, 0xee, n);
    *p = block + 64;
    return cudaSuccess;
}
inline int cudaMallocHost(void** p, size_t n) { return cudaMalloc(p, n); }
inline int cudaFree(void* p)
{
    if (!p)
        return cudaSuccess;
    char* block = (char*)p - 64;
    size_t with_header;
    memcpy(&with_header, block, sizeof with_header);
    __atomic_sub_fetch(&cuzk::emulate::allocated, with_header, __ATOMIC_SEQ_CST);
    free(block);
    return cudaSuccess;
}
inline int cudaFreeHost(void* p) { return cudaFree(p); }
inline int cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
inline int cudaHostUnregister(void*) { return cudaSuccess; }
inline int cudaMemGetInfo(size_t* free_bytes, size_t* total)
{
    *total = cuzk::emulate::kMemoryBytes;
    *free_bytes = *total - cuzk::emulate::allocated;
    return cudaSuccess;
}
inline int cudaMemsetAsync(void* p, int v, size_t n, cudaStream_t) { memset(p, v, n); return cudaSuccess; }
inline int cudaMemcpyAsync(void* to, const void* from, size_t n, int, cudaStream_t) { memcpy(to, from, n); return cudaSuccess; }
inline int cudaSetDevice(int) { return cudaSuccess; }
inline int cudaGetDeviceCount(int* count) { *count = 1; return cudaSuccess; }
inline int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { *least = *greatest = 0; return cudaSuccess; }
inline int cudaStreamCreateWithPriority(cudaStream_t* s, int, int) { *s = nullptr; return cudaSuccess; }
inline int cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline int cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline int cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, int) { return cudaSuccess; }
inline int cudaEventCreateWithFlags(cudaEvent_t* e, int) { *e = nullptr; return cudaSuccess; }
inline int cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline int cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline int cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
