// BLS12-381's Fp and Fp2 on the host, with the interface of sppark's device types: for the emulation, and for the last few
// additions of a sum. Plain, not fast.
#pragma once
#include <cstdint>

namespace cuzk {

class HostFp {
    uint64_t v[6];                              // Montgomery form, below p

    static const uint64_t* modulus()
    {
        static const uint64_t p[6] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                      0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};
        return p;
    }
    static const uint64_t kInverse = 0x89f3fffcfffcfffd;        // -1/p mod 2^64

    // x + y, or x - y, and what is carried out of it
    static uint64_t add_limbs(uint64_t* out, const uint64_t* x, const uint64_t* y)
    {
        unsigned __int128 carry = 0;
        for (int i = 0; i < 6; i++) {
            carry += (unsigned __int128)x[i] + y[i];
            out[i] = (uint64_t)carry;
            carry >>= 64;
        }
        return (uint64_t)carry;
    }
    static uint64_t sub_limbs(uint64_t* out, const uint64_t* x, const uint64_t* y)
    {
        uint64_t borrow = 0;
        for (int i = 0; i < 6; i++) {
            unsigned __int128 difference = (unsigned __int128)x[i] - y[i] - borrow;
            out[i] = (uint64_t)difference;
            borrow = (uint64_t)(difference >> 64) & 1;
        }
        return borrow;
    }
    void reduce()
    {
        uint64_t reduced[6];
        if (sub_limbs(reduced, v, modulus()) == 0)
            for (int i = 0; i < 6; i++)
                v[i] = reduced[i];
    }

public:
    using mem_t = HostFp;
    static const unsigned int degree = 1;

    HostFp() {}
    static HostFp one(bool or_zero = false)
    {
        static const uint64_t words[6] = {0x760900000002fffd, 0xebf4000bc40c0002, 0x5f48985753c758ba,
                                          0x77ce585370525745, 0x5c071a97a256ec6d, 0x15f65ec3fa80e493};
        HostFp x;
        for (int i = 0; i < 6; i++)
            x.v[i] = or_zero ? 0 : words[i];
        return x;
    }
    void zero() { *this = one(true); }
    bool is_zero() const { return (v[0] | v[1] | v[2] | v[3] | v[4] | v[5]) == 0; }

    HostFp& operator+=(const HostFp& y)
    {
        add_limbs(v, v, y.v);                   // p has 381 bits: nothing is carried out
        reduce();
        return *this;
    }
    HostFp& operator-=(const HostFp& y)
    {
        if (sub_limbs(v, v, y.v))
            add_limbs(v, v, modulus());
        return *this;
    }
    HostFp& operator*=(const HostFp& y)
    {
        uint64_t t[8] = {0};
        for (int i = 0; i < 6; i++) {
            unsigned __int128 carry = 0;
            for (int j = 0; j < 6; j++) {
                carry += (unsigned __int128)v[j] * y.v[i] + t[j];
                t[j] = (uint64_t)carry;
                carry >>= 64;
            }
            carry += t[6];
            t[6] = (uint64_t)carry;
            t[7] = (uint64_t)(carry >> 64);
            const uint64_t m = t[0] * kInverse;
            carry = ((unsigned __int128)m * modulus()[0] + t[0]) >> 64;
            for (int j = 1; j < 6; j++) {
                carry += (unsigned __int128)m * modulus()[j] + t[j];
                t[j - 1] = (uint64_t)carry;
                carry >>= 64;
            }
            carry += t[6];
            t[5] = (uint64_t)carry;
            t[6] = t[7] + (uint64_t)(carry >> 64);
        }
        for (int i = 0; i < 6; i++)
            v[i] = t[i];
        reduce();
        return *this;
    }
    friend HostFp operator+(HostFp x, const HostFp& y) { return x += y; }
    friend HostFp operator-(HostFp x, const HostFp& y) { return x -= y; }
    friend HostFp operator*(HostFp x, const HostFp& y) { return x *= y; }
    friend HostFp operator^(const HostFp& x, int) { return x * x; }     // squares are all that is asked for

    HostFp& cneg(bool negate)
    {
        if (negate && !is_zero())
            sub_limbs(v, modulus(), v);
        return *this;
    }
    // To Montgomery form.
    void to()
    {
        static const uint64_t words[6] = {0xf4df1f341c341746, 0x0a76e6a609d104f1, 0x8de5476c4c95b6d5,
                                          0x67eb88a9939d83c0, 0x9a793e85b519952d, 0x11988fe592cae3aa};
        HostFp square;
        for (int i = 0; i < 6; i++)
            square.v[i] = words[i];
        *this *= square;
    }
    // x^(p-2)
    HostFp reciprocal() const
    {
        HostFp power = one();
        for (int bit = 380; bit >= 0; bit--) {
            power *= power;
            const uint64_t word = modulus()[bit / 64] - (bit < 64 ? 2 : 0);
            if (word >> bit % 64 & 1)
                power *= *this;
        }
        return power;
    }
};

class HostFp2 {
    HostFp re, im;

public:
    using mem_t = HostFp2;
    static const unsigned int degree = 2;

    HostFp2() {}
    HostFp2(const HostFp& re, const HostFp& im) : re(re), im(im) {}
    static HostFp2 one(bool or_zero = false) { return HostFp2(HostFp::one(or_zero), HostFp::one(true)); }
    void zero() { *this = one(true); }
    bool is_zero() const { return re.is_zero() && im.is_zero(); }

    HostFp2& operator+=(const HostFp2& y) { re += y.re; im += y.im; return *this; }
    HostFp2& operator-=(const HostFp2& y) { re -= y.re; im -= y.im; return *this; }
    HostFp2& operator*=(const HostFp2& y)
    {
        const HostFp product = re * y.re - im * y.im;
        im = re * y.im + im * y.re;
        re = product;
        return *this;
    }
    friend HostFp2 operator+(HostFp2 x, const HostFp2& y) { return x += y; }
    friend HostFp2 operator-(HostFp2 x, const HostFp2& y) { return x -= y; }
    friend HostFp2 operator*(HostFp2 x, const HostFp2& y) { return x *= y; }
    friend HostFp2 operator^(const HostFp2& x, int) { return x * x; }
    HostFp2& cneg(bool negate) { re.cneg(negate); im.cneg(negate); return *this; }
    HostFp2 reciprocal() const
    {
        const HostFp norm = (re * re + im * im).reciprocal();
        HostFp2 x(re * norm, im * norm);
        x.im.cneg(true);
        return x;
    }
};

}  // namespace cuzk
