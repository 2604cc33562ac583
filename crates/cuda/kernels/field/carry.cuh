// 32-bit arithmetic with carries: machine instructions on a device, an emulated carry flag on the host.
//
// A suffix _cc sets the carry flag, a letter c behind the operation's name adds it. The w-functions work on a 64-bit
// accumulator (lo, hi), the l-functions on its low word alone.
#pragma once
#include "../platform.cuh"

namespace cuzk {

#ifndef CUZK_EMULATE
# define CARRY_OP(name, op) \
    DEVICE uint32_t name(uint32_t a, uint32_t b) \
    { uint32_t d; asm volatile(op " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); return d; }
CARRY_OP(add_cc, "add.cc.u32")
CARRY_OP(addc_cc, "addc.cc.u32")
CARRY_OP(addc, "addc.u32")
CARRY_OP(sub_cc, "sub.cc.u32")
CARRY_OP(subc_cc, "subc.cc.u32")
CARRY_OP(subc, "subc.u32")
# undef CARRY_OP

// (lo, hi) = a * b
DEVICE void wmul(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b)
{ asm volatile("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=&r"(lo), "=r"(hi) : "r"(a), "r"(b)); }
// (lo, hi) += a * b [+ carry]
# define WIDE_MAD(name, low, high) \
    DEVICE void name(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b) \
    { asm volatile(low " %0, %2, %3, %0; " high " %1, %2, %3, %1;" : "+r"(lo), "+r"(hi) : "r"(a), "r"(b)); }
WIDE_MAD(wmad_cc, "mad.lo.cc.u32", "madc.hi.cc.u32")
WIDE_MAD(wmadc_cc, "madc.lo.cc.u32", "madc.hi.cc.u32")
WIDE_MAD(wmad, "mad.lo.cc.u32", "madc.hi.u32")
WIDE_MAD(wmadc, "madc.lo.cc.u32", "madc.hi.u32")
# undef WIDE_MAD
// (lo, hi) = a * b + carry
DEVICE void wmadc0(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b)
{ asm volatile("madc.lo.cc.u32 %0, %2, %3, 0; madc.hi.u32 %1, %2, %3, 0;" : "=&r"(lo), "=r"(hi) : "r"(a), "r"(b)); }
DEVICE void lmad(uint32_t& lo, uint32_t a, uint32_t b)
{ asm volatile("mad.lo.u32 %0, %1, %2, %0;" : "+r"(lo) : "r"(a), "r"(b)); }
DEVICE void lmadc(uint32_t& lo, uint32_t a, uint32_t b)
{ asm volatile("madc.lo.u32 %0, %1, %2, %0;" : "+r"(lo) : "r"(a), "r"(b)); }
// Sum of the four products of bytes, plus c.
DEVICE uint32_t dot4(uint32_t a, uint32_t b, uint32_t c) { return __dp4a(a, b, c); }
// Four of the eight bytes of (b, a), chosen by the digits of `selector`.
DEVICE uint32_t bytes(uint32_t a, uint32_t b, uint32_t selector) { return __byte_perm(a, b, selector); }
#else
inline thread_local uint32_t carry_flag;
inline uint32_t emulated_add(uint32_t a, uint32_t b, uint32_t c, bool set)
{
    uint64_t sum = (uint64_t)a + b + c;
    if (set)
        carry_flag = (uint32_t)(sum >> 32);
    return (uint32_t)sum;
}
inline uint32_t emulated_sub(uint32_t a, uint32_t b, uint32_t c, bool set)
{
    uint64_t difference = (uint64_t)a - b - c;
    if (set)
        carry_flag = (difference >> 32) & 1;
    return (uint32_t)difference;
}
inline uint32_t add_cc(uint32_t a, uint32_t b) { return emulated_add(a, b, 0, true); }
inline uint32_t addc_cc(uint32_t a, uint32_t b) { return emulated_add(a, b, carry_flag, true); }
inline uint32_t addc(uint32_t a, uint32_t b) { return emulated_add(a, b, carry_flag, false); }
inline uint32_t sub_cc(uint32_t a, uint32_t b) { return emulated_sub(a, b, 0, true); }
inline uint32_t subc_cc(uint32_t a, uint32_t b) { return emulated_sub(a, b, carry_flag, true); }
inline uint32_t subc(uint32_t a, uint32_t b) { return emulated_sub(a, b, carry_flag, false); }

inline void emulated_mad(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b, uint32_t c, bool set)
{
    unsigned __int128 sum = (unsigned __int128)a * b + (((uint64_t)hi << 32) | lo) + c;
    lo = (uint32_t)sum;
    hi = (uint32_t)(sum >> 32);
    if (set)
        carry_flag = (uint32_t)(sum >> 64);
    else if (sum >> 64)
        abort();                        // a carry that the device would lose
}
inline void wmul(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b) { lo = hi = 0; emulated_mad(lo, hi, a, b, 0, false); }
inline void wmad_cc(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b) { emulated_mad(lo, hi, a, b, 0, true); }
inline void wmadc_cc(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b) { emulated_mad(lo, hi, a, b, carry_flag, true); }
// The last product of a chain: in truncated products its sum may wrap.
inline void wmad(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b)
{ uint32_t kept = carry_flag; emulated_mad(lo, hi, a, b, 0, true); carry_flag = kept; }
inline void wmadc(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b)
{ uint32_t kept = carry_flag; emulated_mad(lo, hi, a, b, kept, true); carry_flag = kept; }
inline void wmadc0(uint32_t& lo, uint32_t& hi, uint32_t a, uint32_t b)
{ lo = hi = 0; emulated_mad(lo, hi, a, b, carry_flag, false); }
inline void lmad(uint32_t& lo, uint32_t a, uint32_t b) { lo += a * b; }
inline void lmadc(uint32_t& lo, uint32_t a, uint32_t b) { lo += a * b + carry_flag; }
inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c)
{
    for (int i = 0; i < 32; i += 8)
        c += ((a >> i) & 255) * ((b >> i) & 255);
    return c;
}
inline uint32_t bytes(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t all = ((uint64_t)b << 32) | a;
    uint32_t chosen = 0;
    for (int i = 0; i < 4; i++)
        chosen |= (uint32_t)((all >> (8 * ((selector >> (4 * i)) & 7))) & 255) << (8 * i);
    return chosen;
}
#endif
DEVICE uint32_t lmul(uint32_t a, uint32_t b) { return a * b; }

}  // namespace cuzk
