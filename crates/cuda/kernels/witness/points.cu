#include "witness.cuh"
#include "../field/coordinate.cuh"

namespace cuzk {

static const uint32_t kEncodedWords = 12;       // of 4 bytes, a component

DEVICE uint32_t byte_swapped(uint32_t x) { return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24; }

// A thread for each component of a point. An Fp2 coordinate is encoded with its second component first.
KERNEL(256, 1) decode_components(uint4* out, const uint32_t* encoded, uint32_t first, uint32_t count, uint32_t components,
                                 uint32_t reversed_bits)
{
    FOR_EACH(size_t, i, (size_t)count * components) {
        const size_t point = i / components;
        const uint32_t component = (uint32_t)(i % components), encoded_component = components == 4 ? component ^ 1 : component;
        const uint32_t* in = encoded + (point * components + encoded_component) * kEncodedWords;
        const bool infinity = encoded[point * components * kEncodedWords] & 0x40;
        Fp x;
        for (uint32_t k = 0; k < kEncodedWords; k++)
            ((uint32_t*)&x)[k] = infinity ? 0 : byte_swapped(in[kEncodedWords - 1 - k]);
        x.to();
        uint32_t place = first + (uint32_t)point;
        if (reversed_bits)
            place = __brev(place) >> (32 - reversed_bits);
        store_share<Fp>(out + ((size_t)place * components + component) * kWords<Fp>, 1, x);
    }
}

void decode_points(const Device& device, void* out, const void* encoded, uint32_t first, uint32_t count, uint32_t components,
                   uint32_t reversed_bits)
{
    LAUNCH(decode_components, device.light_grid(), 256, 0, device.main, (uint4*)out, (const uint32_t*)encoded, first, count,
           components, reversed_bits);
}

// b of y^2 = x^3 + b: 4 for G1, 4 (1 + u) for G2.
template<class F> DEVICE F curve_b();
template<> DEVICE Fp curve_b<Fp>()
{
    Fp four = Fp::one();
    four = four + four;
    return four + four;
}
template<> DEVICE Fp2 curve_b<Fp2>()
{
#if defined(CUZK_EMULATE)
    return Fp2(curve_b<Fp>(), curve_b<Fp>());
#elif defined(__CUDA_ARCH__)
    return Fp2(curve_b<Fp>());                  // the same in both lanes
#else
    return Fp2();                               // for the compiler's host pass
#endif
}

template<class F> KERNEL(128, 1) find_off_curve(uint32_t* first, const uint4* points, uint32_t count)
{
    const uint32_t threads = gridDim.x * blockDim.x / kLanes<F>;
    for (uint32_t i = (threadIdx.x + blockIdx.x * blockDim.x) / kLanes<F>; i < count; i += threads) {
        const uint4* point = points + (size_t)i * 2 * kWords<F>;
        F x = load_element<F>(point), y = load_element<F>(point + kWords<F>);
        if (x.is_zero() && y.is_zero())
            continue;
        F difference = squared<F>(x) * x;
        difference += curve_b<F>();
        difference -= squared<F>(y);
        if (!difference.is_zero())
            atomicMin(first, i);
    }
}

template<class F> static uint32_t first_off_curve(const Device& device, const void* points, uint32_t count)
{
    uint32_t* answer = (uint32_t*)device.pinned;
    *answer = count;
    CHECK(cudaMemcpyAsync(device.scratch, answer, sizeof *answer, cudaMemcpyHostToDevice, device.main));
    LAUNCH(find_off_curve<F>, device.light_grid(), 128, 0, device.main, device.scratch, (const uint4*)points, count);
    CHECK(cudaMemcpyAsync(answer, device.scratch, sizeof *answer, cudaMemcpyDeviceToHost, device.main));
    CHECK(cudaStreamSynchronize(device.main));
    return *answer;
}

uint32_t first_off_curve_g1(const Device& device, const void* points, uint32_t count)
{   return first_off_curve<Fp>(device, points, count);   }
uint32_t first_off_curve_g2(const Device& device, const void* points, uint32_t count)
{   return first_off_curve<Fp2>(device, points, count);   }

}  // namespace cuzk
