// BLS12-381 Fr for NTTs and mat-vecs on the device.
//
// Values are 8 little-endian 32-bit limbs, kept below 2r between operations (2r < 2^256); only results handed out are
// reduced below r.
//
// Three multiplications, cheapest first. Cost is counted in 32x32->64-bit multiply-adds (IMAD.WIDE); r's low 64 bits are
// 2^64 - 2^32 + 1, so reducing modulo r by 64 bits takes 12 of them. On an H200 scheduler an IMAD.WIDE holds the
// multiply pipe for 4 cycles (other IMADs 2), and measurements fit a second limit that it shares with the adders:
// 3 cycles for an IMAD.WIDE, 2 for an addition, logic or select, 1 for another IMAD. So additions are not free.
//   mul_split: by a constant w given as w * 2^(32k+64) mod r for k = 0..7. 64 + 12.
//   mul_shoup: by w given with floor(w * 2^256 / r).                       79 + 14 half-width ones.
//   mul_mont:  Montgomery product of two variables.                        64 + 48.
#pragma once
#include "carry.cuh"
#include "fr_constants.h"

namespace cuzk {

struct alignas(32) Fr { uint32_t v[8]; };

// ---- additions -------------------------------------------------------------------------------------------------

// x + y; no reduction.
DEVICE Fr add_raw(const Fr& x, const Fr& y)
{
    Fr z;
    z.v[0] = add_cc(x.v[0], y.v[0]);
UNROLL
    for (int i = 1; i < 7; i++) z.v[i] = addc_cc(x.v[i], y.v[i]);
    z.v[7] = addc(x.v[7], y.v[7]);
    return z;
}

// x + (flag ? 2r : 0) or, with minus, x - (flag ? 2r : 0)
template <bool MINUS> DEVICE void add_if(Fr& x, uint32_t flag)
{
#ifndef CUZK_EMULATE
#define ADD_IF(op, opc) asm volatile("{ .reg .pred p; setp.ne.u32 p, %8, 0;\n\t" \
        "@p " op ".cc.u32 %0, %0, %9; @p " opc ".cc.u32 %1, %1, %10; @p " opc ".cc.u32 %2, %2, %11; @p " opc ".cc.u32 %3, %3, %12;\n\t" \
        "@p " opc ".cc.u32 %4, %4, %13; @p " opc ".cc.u32 %5, %5, %14; @p " opc ".cc.u32 %6, %6, %15; @p " opc ".cc.u32 %7, %7, %16; }" \
        : "+r"(x.v[0]), "+r"(x.v[1]), "+r"(x.v[2]), "+r"(x.v[3]), "+r"(x.v[4]), "+r"(x.v[5]), "+r"(x.v[6]), "+r"(x.v[7]) \
        : "r"(flag), "n"(fr_constants::MOD2[0]), "n"(fr_constants::MOD2[1]), "n"(fr_constants::MOD2[2]), "n"(fr_constants::MOD2[3]), \
          "n"(fr_constants::MOD2[4]), "n"(fr_constants::MOD2[5]), "n"(fr_constants::MOD2[6]), "n"(fr_constants::MOD2[7]))
    if (MINUS) ADD_IF("sub", "subc"); else ADD_IF("add", "addc");
#undef ADD_IF
#else
    if (!flag) return;
    for (int i = 0; i < 8; i++)
        x.v[i] = MINUS ? (i ? subc_cc(x.v[i], fr_constants::MOD2[i]) : sub_cc(x.v[i], fr_constants::MOD2[i])) : (i ? addc_cc(x.v[i], fr_constants::MOD2[i]) : add_cc(x.v[i], fr_constants::MOD2[i]));
#endif
}

// x, y < 2r -> x + y mod 2r.
DEVICE Fr add(const Fr& x, const Fr& y)
{
    Fr s;
    s.v[0] = add_cc(x.v[0], y.v[0]);
UNROLL
    for (int i = 1; i < 8; i++) s.v[i] = addc_cc(x.v[i], y.v[i]);
    uint32_t top = addc(0, 0);
    s.v[0] = sub_cc(s.v[0], fr_constants::MOD2[0]);
UNROLL
    for (int i = 1; i < 8; i++) s.v[i] = subc_cc(s.v[i], fr_constants::MOD2[i]);
    add_if<false>(s, subc(top, 0));
    return s;
}

// x, y < 2r -> x + y mod r, below 2r + 2^225: decides by the top limb. Such a value must not be subtracted, lest the
// difference wrap; a multiplication makes it an ordinary one.
DEVICE Fr add_loose(const Fr& x, const Fr& y)
{
    Fr s;
    s.v[0] = add_cc(x.v[0], y.v[0]);
UNROLL
    for (int i = 1; i < 8; i++) s.v[i] = addc_cc(x.v[i], y.v[i]);
    uint32_t top = addc(0, 0);
    add_if<true>(s, top | (s.v[7] > fr_constants::MOD2[7]));
    return s;
}

// x, y < 2r -> x - y mod 2r.
DEVICE Fr sub(const Fr& x, const Fr& y)
{
    Fr d;
    d.v[0] = sub_cc(x.v[0], y.v[0]);
UNROLL
    for (int i = 1; i < 8; i++) d.v[i] = subc_cc(x.v[i], y.v[i]);
    add_if<false>(d, subc(0, 0));
    return d;
}

// x < 2r -> x mod r.
DEVICE Fr reduce(const Fr& x)
{
    Fr d;
    d.v[0] = sub_cc(x.v[0], fr_constants::MOD[0]);
UNROLL
    for (int i = 1; i < 8; i++) d.v[i] = subc_cc(x.v[i], fr_constants::MOD[i]);
    uint32_t neg = subc(0, 0);
UNROLL
    for (int i = 0; i < 8; i++) d.v[i] = neg ? x.v[i] : d.v[i];
    return d;
}

// ---- multiplications -------------------------------------------------------------------------------------------

// One Montgomery step by 64 bits on S = sum e[i] 2^(32i) + sum o[i] 2^(32(i+1)): S := (S - u r) / 2^64 + r, where
// u = S / r mod 2^64 = S (1 + 2^32) mod 2^64. With ~u in place of u all terms are positive; what is left over is the
// constant K1, which the caller adds, before or after. The new S starts at e[2] and o[1].
DEVICE void redc64(uint32_t (&e)[10], uint32_t (&o)[8])
{
    uint32_t s1 = add_cc(e[1], o[0]);
    uint32_t u1 = add_cc(e[0], s1);
    uint32_t f = addc(u1, 0); // (u - T) where T = u r_lo / 2^64 rounded down
    uint32_t u0 = ~e[0];
    u1 = ~u1;
    // odd columns; f enters at column 2
    o[1] = add_cc(o[1], f);
    wmadc_cc(o[2], o[3], u0, fr_constants::RH1[1]); wmadc_cc(o[4], o[5], u0, fr_constants::RH1[3]); wmadc_cc(o[6], o[7], u0, fr_constants::RH1[5]);
    e[9] = addc(e[9], 0);
    wmad_cc(o[2], o[3], u1, fr_constants::RH1[0]); wmadc_cc(o[4], o[5], u1, fr_constants::RH1[2]); wmadc_cc(o[6], o[7], u1, fr_constants::RH1[4]);
    e[9] = addc(e[9], 0);
    // even columns; the carry out of the two that cancelled enters at column 2
    add_cc(e[1], o[0]);
    wmadc_cc(e[2], e[3], u0, fr_constants::RH1[0]); wmadc_cc(e[4], e[5], u0, fr_constants::RH1[2]); wmadc_cc(e[6], e[7], u0, fr_constants::RH1[4]);
    e[8] = addc_cc(e[8], 0); e[9] = addc(e[9], 0);
    wmad_cc(e[4], e[5], u1, fr_constants::RH1[1]); wmadc_cc(e[6], e[7], u1, fr_constants::RH1[3]); wmadc(e[8], e[9], u1, fr_constants::RH1[5]);
}

// x < 2^256, row(k) = w * 2^(32k + 64) mod r -> x * w mod r, below r (1 + 2^-28).
template <class Row> DEVICE Fr mul_split_rows(const Fr& x, Row row)
{
    uint32_t e[10], o[8];
    Fr W = row(0);
UNROLL
    for (int i = 0; i < 8; i += 2) {
        wmul(e[i], e[i + 1], x.v[0], W.v[i]);
        wmul(o[i], o[i + 1], x.v[0], W.v[i + 1]);
    }
    e[8] = e[9] = 0;
UNROLL
    for (int k = 1; k < 8; k++) {
        W = row(k);
        wmad_cc(e[0], e[1], x.v[k], W.v[0]);
UNROLL
        for (int i = 2; i < 8; i += 2) wmadc_cc(e[i], e[i + 1], x.v[k], W.v[i]);
        e[8] = addc(e[8], 0);
        wmad_cc(o[0], o[1], x.v[k], W.v[1]);
UNROLL
        for (int i = 2; i < 8; i += 2) wmadc_cc(o[i], o[i + 1], x.v[k], W.v[i + 1]);
        e[9] = addc(e[9], 0);
    }
    redc64(e, o);
    Fr z;
    z.v[0] = add_cc(e[2], o[1]);
UNROLL
    for (int i = 1; i < 7; i++) z.v[i] = addc_cc(e[i + 2], o[i + 1]);
    z.v[7] = addc(e[9], 0);
    z.v[0] = add_cc(z.v[0], fr_constants::K1[0]);
UNROLL
    for (int i = 1; i < 6; i++) z.v[i] = addc_cc(z.v[i], fr_constants::K1[i]);
    z.v[6] = addc_cc(z.v[6], 0);
    z.v[7] = addc(z.v[7], 0);
    return z;
}
DEVICE Fr mul_split(const Fr& x, const uint32_t (&W)[8][8])
{
    return mul_split_rows(x, [&](int k) { return Fr{{W[k][0], W[k][1], W[k][2], W[k][3], W[k][4], W[k][5], W[k][6], W[k][7]}}; });
}

// The top bytes of a, b, c, d.
DEVICE uint32_t tops(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return bytes(bytes(a, b, 0x73), bytes(c, d, 0x73), 0x5410); }

// x < 2r, w < r, wq = floor(w * 2^256 / r) -> x * w mod r, below 2r.
DEVICE Fr mul_shoup(const Fr& x, const Fr& w, const Fr& wq)
{
    // q = x * wq / 2^256, less than 1.06 too small: columns 7 and up, and of column 6 the products of the top bytes.
    uint32_t he[10], ho[8]; // he[i]: column 6 + i; ho[i]: column 7 + i
    Fr q;
    uint32_t six = dot4(tops(x.v[0], x.v[1], x.v[2], x.v[3]), tops(wq.v[6], wq.v[5], wq.v[4], wq.v[3]),
                   dot4(tops(x.v[4], x.v[5], x.v[6], x.v[6]), tops(wq.v[2], wq.v[1], wq.v[0], 0), 0));
    he[1] = six << 16; he[2] = six >> 16; he[3] = 0;
    wmul(ho[0], ho[1], x.v[0], wq.v[7]);
UNROLL
    for (int i = 1; i < 8; i++) {
        // products in columns i + j >= 7; that of j = 7 opens the next pair of its parity
        bool top_even = ((i + 7) & 1) == 0;
        uint32_t* fresh = top_even ? he : ho; // has column i + 7
        uint32_t* other = top_even ? ho : he;
        int f0 = top_even ? 6 : 7, g0 = top_even ? 7 : 6; // first column of each
        bool first = true;
UNROLL
        for (int j = 0; j < 8; j++) { // fresh chain
            int col = i + j;
            if (col < 7 || ((col - f0) & 1)) continue;
            uint32_t &lo = fresh[col - f0], &hi = fresh[col - f0 + 1];
            if (j == 7) { if (i == 1) wmad(lo, hi, x.v[i], wq.v[j]); else wmadc0(lo, hi, x.v[i], wq.v[j]); }
            else if (first) wmad_cc(lo, hi, x.v[i], wq.v[j]);
            else wmadc_cc(lo, hi, x.v[i], wq.v[j]);
            first = false;
        }
        first = true;
UNROLL
        for (int j = 0; j < 8; j++) { // other chain; its carry goes to the top of the fresh pair
            int col = i + j;
            if (col < 7 || ((col - g0) & 1)) continue;
            uint32_t &lo = other[col - g0], &hi = other[col - g0 + 1];
            if (first) wmad_cc(lo, hi, x.v[i], wq.v[j]); else wmadc_cc(lo, hi, x.v[i], wq.v[j]);
            first = false;
        }
        uint32_t& t = fresh[i + 8 - f0];
        t = addc(t, 0);
    }
    add_cc(he[1], ho[0]);
UNROLL
    for (int i = 0; i < 7; i++) q.v[i] = addc_cc(he[i + 2], ho[i + 1]);
    q.v[7] = addc(he[9], 0);

    // x * w - q * r modulo 2^256
    uint32_t e[8], o[7]; // e[i]: column i; o[i]: column i + 1
UNROLL
    for (int i = 0; i < 8; i += 2) wmul(e[i], e[i + 1], x.v[0], w.v[i]);
UNROLL
    for (int i = 0; i < 6; i += 2) wmul(o[i], o[i + 1], x.v[0], w.v[i + 1]);
    o[6] = lmul(x.v[0], w.v[7]);
UNROLL
    for (int pass = 0; pass < 2; pass++) {
        const Fr& a = pass ? q : x;
UNROLL
        for (int i = pass ? 0 : 1; i < (pass ? 6 : 8); i++) {
            int s = pass ? 2 : 0; // -r's limbs 0 and 1 come below
            bool first = true;
UNROLL
            for (int j = s; i + j < 8; j++) { // even columns
                int col = i + j;
                if (col & 1) continue;
                uint32_t b = pass ? fr_constants::NEG[j] : w.v[j];
                if (first) { if (col == 6) wmad(e[col], e[col + 1], a.v[i], b); else wmad_cc(e[col], e[col + 1], a.v[i], b); }
                else if (col == 6) wmadc(e[col], e[col + 1], a.v[i], b);
                else wmadc_cc(e[col], e[col + 1], a.v[i], b);
                first = false;
            }
            first = true;
UNROLL
            for (int j = s; i + j < 8; j++) { // odd columns
                int col = i + j;
                if (!(col & 1)) continue;
                uint32_t b = pass ? fr_constants::NEG[j] : w.v[j];
                if (col == 7) { if (first) lmad(o[6], a.v[i], b); else lmadc(o[6], a.v[i], b); }
                else if (first) wmad_cc(o[col - 1], o[col], a.v[i], b);
                else wmadc_cc(o[col - 1], o[col], a.v[i], b);
                first = false;
            }
        }
    }
    Fr z;
    z.v[0] = e[0];
    z.v[1] = add_cc(e[1], o[0]);
UNROLL
    for (int i = 2; i < 7; i++) z.v[i] = addc_cc(e[i], o[i - 1]);
    z.v[7] = addc(e[7], o[6]);
    // -r's limbs 0 and 1 together are 2^32 - 1
    z.v[1] = add_cc(z.v[1], q.v[0]);
UNROLL
    for (int i = 2; i < 7; i++) z.v[i] = addc_cc(z.v[i], q.v[i - 1]);
    z.v[7] = addc(z.v[7], q.v[6]);
    z.v[0] = sub_cc(z.v[0], q.v[0]);
UNROLL
    for (int i = 1; i < 7; i++) z.v[i] = subc_cc(z.v[i], q.v[i]);
    z.v[7] = subc(z.v[7], q.v[7]);
    return z;
}

// a < r, b < 2^256 -> a * b / 2^256 mod r, below 2r. Two limbs of b at a time.
DEVICE Fr mul_mont(const Fr& a, const Fr& b)
{
    uint32_t e[10], o[8];
UNROLL
    for (int k = 0; k < 8; k += 2) {
        if (k == 0) {
UNROLL
            for (int i = 0; i < 6; i++) e[i + 2] = fr_constants::K1[i];
            wmul(e[0], e[1], a.v[0], b.v[0]);
            wmad_cc(e[2], e[3], a.v[2], b.v[0]); wmadc_cc(e[4], e[5], a.v[4], b.v[0]); wmadc_cc(e[6], e[7], a.v[6], b.v[0]);
            e[8] = addc(0, 0); e[9] = 0;
UNROLL
            for (int i = 0; i < 8; i += 2) wmul(o[i], o[i + 1], a.v[i + 1], b.v[0]);
        } else {
            // shift by two columns; column 0 is whole, its carry goes into the odd ones
            uint32_t low = o[1];
UNROLL
            for (int i = 0; i < 8; i++) e[i] = e[i + 2];
UNROLL
            for (int i = 0; i < 6; i++) o[i] = o[i + 2];
            e[8] = e[9] = o[6] = o[7] = 0;
            e[0] = add_cc(e[0], low);
            wmadc_cc(o[0], o[1], a.v[1], b.v[k]); wmadc_cc(o[2], o[3], a.v[3], b.v[k]); wmadc_cc(o[4], o[5], a.v[5], b.v[k]); wmadc(o[6], o[7], a.v[7], b.v[k]);
            e[2] = add_cc(e[2], fr_constants::K1[0]);
UNROLL
            for (int i = 1; i < 6; i++) e[i + 2] = addc_cc(e[i + 2], fr_constants::K1[i]);
            e[8] = addc(0, 0);
            wmad_cc(e[0], e[1], a.v[0], b.v[k]); wmadc_cc(e[2], e[3], a.v[2], b.v[k]); wmadc_cc(e[4], e[5], a.v[4], b.v[k]); wmadc_cc(e[6], e[7], a.v[6], b.v[k]);
            e[8] = addc(e[8], 0);
        }
        wmad_cc(o[0], o[1], a.v[0], b.v[k + 1]); wmadc_cc(o[2], o[3], a.v[2], b.v[k + 1]); wmadc_cc(o[4], o[5], a.v[4], b.v[k + 1]); wmadc_cc(o[6], o[7], a.v[6], b.v[k + 1]);
        e[9] = addc(0, 0);
        wmad_cc(e[2], e[3], a.v[1], b.v[k + 1]); wmadc_cc(e[4], e[5], a.v[3], b.v[k + 1]); wmadc_cc(e[6], e[7], a.v[5], b.v[k + 1]); wmadc(e[8], e[9], a.v[7], b.v[k + 1]);
        redc64(e, o);
    }
    Fr z;
    z.v[0] = add_cc(e[2], o[1]);
UNROLL
    for (int i = 1; i < 7; i++) z.v[i] = addc_cc(e[i + 2], o[i + 1]);
    z.v[7] = addc(e[9], 0);
    return z;
}

}  // namespace cuzk
