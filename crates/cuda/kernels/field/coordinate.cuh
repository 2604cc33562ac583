// The fields that points' coordinates lie in: Fp for G1, Fp2 for G2. On a device both are sppark's.
//
// On a device an Fp2 element is spread over two neighbouring threads, a component each, that exchange what they need by
// warp shuffles: so G2 takes no more registers than G1. Code here counts in *lanes* of an element: kLanes threads hold
// it, kLaneWords words of 16 bytes each. On the host, where the emulation runs, one thread holds it all.
#pragma once
#include "../platform.cuh"

#ifdef CUZK_EMULATE
# include "host_field.h"
#else
# include <ff/bls12-381-fp2.hpp>
#endif
#include <ec/xyzz_t.hpp>

namespace cuzk {

#ifdef CUZK_EMULATE
typedef HostFp Fp;
typedef HostFp2 Fp2;
#else
typedef bls12_381::fp_t Fp;
typedef bls12_381::fp2_t Fp2;
#endif

template<class F> struct Field;
template<> struct Field<Fp> {
    static const uint32_t kLanes = 1, kWords = 3;
    static const uint32_t kBlocks = 5;          // of batch_affine_add on a multiprocessor: 96 registers
};
template<> struct Field<Fp2> {
#ifdef CUZK_EMULATE
    static const uint32_t kLanes = 1, kWords = 6;
#else
    static const uint32_t kLanes = 2, kWords = 6;
#endif
    static const uint32_t kBlocks = 4;          // 128 registers
};
template<class F> constexpr uint32_t kLanes = Field<F>::kLanes;
template<class F> constexpr uint32_t kWords = Field<F>::kWords;                         // of an element
template<class F> constexpr uint32_t kLaneWords = Field<F>::kWords / Field<F>::kLanes;  // of a thread's share

// Where this thread's share of an element begins, in words.
template<class F> DEVICE uint32_t lane_offset()
{   return kLanes<F> == 1 ? 0 : threadIdx.x % kLanes<F> * kLaneWords<F>;   }

// This thread's share, its words `stride` apart.
template<class F> DEVICE F load_share(const uint4* words, uint32_t stride)
{
    uint32_t limbs[4 * kLaneWords<F>];
    UNROLL for (uint32_t k = 0; k < kLaneWords<F>; k++) {
        uint4 w = words[k * stride];
        limbs[4 * k] = w.x, limbs[4 * k + 1] = w.y, limbs[4 * k + 2] = w.z, limbs[4 * k + 3] = w.w;
    }
    F value;
    UNROLL for (uint32_t i = 0; i < 4 * kLaneWords<F>; i++)
        ((uint32_t*)&value)[i] = limbs[i];
    return value;
}

template<class F> DEVICE void store_share(uint4* words, uint32_t stride, const F& value)
{
    const uint32_t* v = (const uint32_t*)&value;
    UNROLL for (uint32_t k = 0; k < kLaneWords<F>; k++)
        words[k * stride] = make_uint4(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
}

// The same for elements in memory, from their first word.
template<class F> DEVICE F load_element(const uint4* words) { return load_share<F>(words + lane_offset<F>(), 1); }
template<class F> DEVICE void store_element(uint4* words, const F& value)
{   store_share<F>(words + lane_offset<F>(), 1, value);   }

// A name of its own: by way of its base class, Fp2 would also answer to the base field's sqr().
template<class F> DEVICE F squared(const F& x) { return x ^ 2; }

}  // namespace cuzk
