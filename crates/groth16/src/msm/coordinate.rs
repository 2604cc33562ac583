//! The fields that point coordinates live in, by blst: the base field for G1, its quadratic extension for G2.

use blst::*;

/// A coordinate field over blst's Montgomery form (radix 2^384).
pub trait Coordinate: Copy + Default + PartialEq + Send + Sync + 'static {
    /// Bytes of an encoded element.
    const BYTES: usize;

    /// Reads an element as bellperson writes it (canonical, big-endian, highest coefficient first) *without*
    /// converting it: the words then stand for `2^-384` times the element. The three flag bits are cleared.
    fn read_words(bytes: &[u8]) -> Self;
    /// Writes what `read_words` reads.
    fn write_words(&self, bytes: &mut [u8]);
    /// Leaves Montgomery form: the words are then the canonical integers.
    fn to_words(&self) -> Self;
    /// Product with an element of the base field.
    fn scale(&self, by: &blst_fp) -> Self;
    /// Product.
    fn mul(&self, by: &Self) -> Self;
    /// Product, written to where it is to stay. What blst has just written is better not copied: it stores by words, a
    /// copy loads by vectors, and such a load waits for the stores to leave the processor.
    fn mul_to(&self, by: &Self, out: &mut Self);
    /// Product, in place.
    fn mul_by(&mut self, by: &Self);
    /// Square.
    fn square(&self) -> Self;
    /// Square, written to where it is to stay.
    fn square_to(&self, out: &mut Self);
    /// Sum.
    fn add(&self, other: &Self) -> Self;
    /// Difference.
    fn sub(&self, other: &Self) -> Self;
    /// Difference, written to where it is to stay.
    fn sub_to(&self, other: &Self, out: &mut Self);
    /// Difference, in place.
    fn sub_by(&mut self, other: &Self);
    /// Itself or its negative, written to where it is to stay.
    fn sign_to(&self, negative: bool, out: &mut Self);
    /// Inverse, zero for zero.
    fn invert(&self) -> Self;
    /// One.
    fn one() -> Self;
    /// The element with these coefficients over the base field, lowest first.
    fn from_coefficients(coefficients: &[blst_fp]) -> Self;

    /// Whether it is zero.
    fn is_zero(&self) -> bool;
}

/// blst's function of two operands as an expression.
macro_rules! call {
    ($function:ident($($operand:expr),+)) => {{
        let mut result = Default::default();
        // SAFETY: blst reads the operands, which live through the call, and writes the result, which is its own.
        unsafe { $function(&mut result, $($operand),+) };
        result
    }};
}

impl Coordinate for blst_fp {
    const BYTES: usize = 48;

    #[inline]
    fn read_words(bytes: &[u8]) -> Self {
        let bytes: &[u8; 48] = bytes.try_into().expect("48 bytes an element");
        let mut words = [0; 6];
        for (word, chunk) in words.iter_mut().rev().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_be_bytes(*chunk);
        }
        words[5] &= u64::MAX >> 3;
        blst_fp { l: words }
    }
    fn write_words(&self, bytes: &mut [u8]) {
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.l.iter().rev()) {
            chunk.copy_from_slice(&word.to_be_bytes());
        }
    }
    fn to_words(&self) -> Self {
        call!(blst_fp_from(self))
    }
    #[inline]
    fn scale(&self, by: &blst_fp) -> Self {
        self.mul(by)
    }
    #[inline]
    fn mul(&self, by: &Self) -> Self {
        call!(blst_fp_mul(self, by))
    }
    #[inline]
    fn mul_to(&self, by: &Self, out: &mut Self) {
        // SAFETY: blst reads the operands and writes the result.
        unsafe { blst_fp_mul(out, self, by) };
    }
    #[inline]
    fn mul_by(&mut self, by: &Self) {
        // SAFETY: blst reads the operands before it writes the result.
        unsafe { blst_fp_mul(self, self, by) };
    }
    #[inline]
    fn square(&self) -> Self {
        call!(blst_fp_sqr(self))
    }
    #[inline]
    fn square_to(&self, out: &mut Self) {
        // SAFETY: as above.
        unsafe { blst_fp_sqr(out, self) };
    }
    #[inline]
    fn add(&self, other: &Self) -> Self {
        call!(blst_fp_add(self, other))
    }
    #[inline]
    fn sub(&self, other: &Self) -> Self {
        call!(blst_fp_sub(self, other))
    }
    #[inline]
    fn sub_to(&self, other: &Self, out: &mut Self) {
        // SAFETY: as above.
        unsafe { blst_fp_sub(out, self, other) };
    }
    #[inline]
    fn sub_by(&mut self, other: &Self) {
        // SAFETY: as above.
        unsafe { blst_fp_sub(self, self, other) };
    }
    #[inline]
    fn sign_to(&self, negative: bool, out: &mut Self) {
        // SAFETY: as above.
        unsafe { blst_fp_cneg(out, self, negative) };
    }
    fn invert(&self) -> Self {
        call!(blst_fp_inverse(self))
    }
    fn one() -> Self {
        crate::field::fp_power_of_two(384)
    }
    fn from_coefficients(coefficients: &[blst_fp]) -> Self {
        coefficients[0]
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.l.iter().fold(0, |any, word| any | word) == 0
    }
}

impl Coordinate for blst_fp2 {
    const BYTES: usize = 96;

    #[inline]
    fn read_words(bytes: &[u8]) -> Self {
        let (c1, c0) = bytes.split_at(48);
        blst_fp2 {
            fp: [blst_fp::read_words(c0), blst_fp::read_words(c1)],
        }
    }
    fn write_words(&self, bytes: &mut [u8]) {
        let (c1, c0) = bytes.split_at_mut(48);
        self.fp[0].write_words(c0);
        self.fp[1].write_words(c1);
    }
    fn to_words(&self) -> Self {
        blst_fp2 {
            fp: self.fp.map(|c| c.to_words()),
        }
    }
    #[inline]
    fn scale(&self, by: &blst_fp) -> Self {
        blst_fp2 {
            fp: self.fp.map(|c| c.mul(by)),
        }
    }
    #[inline]
    fn mul(&self, by: &Self) -> Self {
        call!(blst_fp2_mul(self, by))
    }
    #[inline]
    fn mul_to(&self, by: &Self, out: &mut Self) {
        // SAFETY: blst reads the operands and writes the result.
        unsafe { blst_fp2_mul(out, self, by) };
    }
    #[inline]
    fn mul_by(&mut self, by: &Self) {
        // SAFETY: blst reads the operands before it writes the result.
        unsafe { blst_fp2_mul(self, self, by) };
    }
    #[inline]
    fn square(&self) -> Self {
        call!(blst_fp2_sqr(self))
    }
    #[inline]
    fn square_to(&self, out: &mut Self) {
        // SAFETY: as above.
        unsafe { blst_fp2_sqr(out, self) };
    }
    #[inline]
    fn add(&self, other: &Self) -> Self {
        call!(blst_fp2_add(self, other))
    }
    #[inline]
    fn sub(&self, other: &Self) -> Self {
        call!(blst_fp2_sub(self, other))
    }
    #[inline]
    fn sub_to(&self, other: &Self, out: &mut Self) {
        // SAFETY: as above.
        unsafe { blst_fp2_sub(out, self, other) };
    }
    #[inline]
    fn sub_by(&mut self, other: &Self) {
        // SAFETY: as above.
        unsafe { blst_fp2_sub(self, self, other) };
    }
    #[inline]
    fn sign_to(&self, negative: bool, out: &mut Self) {
        // SAFETY: as above.
        unsafe { blst_fp2_cneg(out, self, negative) };
    }
    fn invert(&self) -> Self {
        call!(blst_fp2_inverse(self))
    }
    fn one() -> Self {
        blst_fp2 {
            fp: [blst_fp::one(), blst_fp::default()],
        }
    }
    fn from_coefficients(coefficients: &[blst_fp]) -> Self {
        blst_fp2 {
            fp: [coefficients[0], coefficients[1]],
        }
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.fp[0].is_zero() && self.fp[1].is_zero()
    }
}
