// Fr in memory: two words of 16 bytes, or in tables planes of them.
#pragma once
#include "fr.cuh"

namespace cuzk {

DEVICE Fr join(const uint4& a, const uint4& b)
{
    Fr x;
    x.v[0] = a.x; x.v[1] = a.y; x.v[2] = a.z; x.v[3] = a.w; x.v[4] = b.x; x.v[5] = b.y; x.v[6] = b.z; x.v[7] = b.w;
    return x;
}
DEVICE uint4 half0(const Fr& x) { return make_uint4(x.v[0], x.v[1], x.v[2], x.v[3]); }
DEVICE uint4 half1(const Fr& x) { return make_uint4(x.v[4], x.v[5], x.v[6], x.v[7]); }
#ifndef CUZK_EMULATE
#define LOAD16(name, how) DEVICE uint4 name(const uint4* p) \
    { uint4 v; asm volatile(how " {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
LOAD16(load_once, "ld.global.L1::evict_first.v4.u32")
#undef LOAD16
#define LOAD16(name, how) DEVICE uint4 name(const uint4* p) \
    { uint4 v; asm(how " {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; }
LOAD16(load_row, "ld.global.nc.L1::no_allocate.v4.u32")
LOAD16(load_core, "ld.global.nc.L1::evict_last.v4.u32")
#undef LOAD16
#else
DEVICE uint4 load_once(const uint4* p) { return *p; }
DEVICE uint4 load_row(const uint4* p) { return *p; }
DEVICE uint4 load_core(const uint4* p) { return *p; }
#endif
DEVICE Fr load(const Fr* p) { const uint4* q = (const uint4*)p; return join(load_once(q), load_once(q + 1)); }
DEVICE void store(Fr* p, const Fr& x) { uint4* q = (uint4*)p; q[0] = half0(x); q[1] = half1(x); }

// A constant with its companion for mul_shoup. A row of n of them is four planes of n uint4.
struct Pair { Fr w, q; };
DEVICE Pair row_pair(const uint4* row, int n, int i)
{
    row += i;
    return {join(load_row(row), load_row(row + n)), join(load_row(row + 2 * n), load_row(row + 3 * n))};
}
DEVICE Pair core_pair(const uint4* row, int n, int i)
{
    row += i;
    return {join(load_core(row), load_core(row + n)), join(load_core(row + 2 * n), load_core(row + 3 * n))};
}
DEVICE Fr operator*(const Fr& x, const Pair& y) { return mul_shoup(x, y.w, y.q); }

DEVICE Fr fr_zero() { return Fr{{0, 0, 0, 0, 0, 0, 0, 0}}; }
DEVICE Fr fr_constant(const uint32_t (&limbs)[8])
{
    Fr x;
    UNROLL for (int i = 0; i < 8; i++) x.v[i] = limbs[i];
    return x;
}

}  // namespace cuzk
