//! Coefficients by number: a circuit has a few thousand distinct ones.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use blstrs::Scalar;
use ff::Field;

/// The field element's limbs as blst holds them; equal exactly for equal elements.
pub(crate) fn limbs(scalar: &Scalar) -> [u64; 4] {
    blst::blst_fr::from(*scalar).l
}

/// Numbers coefficients in order of first appearance, after 0 for one and 1 for minus one.
#[derive(Debug)]
pub(crate) struct Dictionary {
    values: Vec<Scalar>,
    index: HashMap<[u64; 4], u16, BuildHasherDefault<LimbHasher>>,
    one: [u64; 4],
    minus_one: [u64; 4],
}

impl Dictionary {
    /// Number of coefficients that a `u16` can tell apart.
    pub(crate) const LIMIT: usize = 1 << 16;

    pub(crate) fn new() -> Self {
        Self::with_values(&[Scalar::ONE, -Scalar::ONE])
    }

    /// With what another dictionary came to.
    pub(crate) fn with_values(values: &[Scalar]) -> Self {
        let values = values.to_vec();
        let index = values
            .iter()
            .zip(0u16..=u16::MAX)
            .map(|(v, i)| (limbs(v), i))
            .collect();
        Self {
            one: limbs(&values[0]),
            minus_one: limbs(&values[1]),
            values,
            index,
        }
    }

    /// The number of a coefficient, a new one if it was never seen; none when numbers ran out.
    pub(crate) fn intern(&mut self, value: &Scalar) -> Option<u16> {
        let key = limbs(value);
        if key == self.one {
            return Some(0);
        }
        if key == self.minus_one {
            return Some(1);
        }
        if let Some(&i) = self.index.get(&key) {
            return Some(i);
        }
        let i = u16::try_from(self.values.len()).ok()?;
        self.values.push(*value);
        self.index.insert(key, i);
        Some(i)
    }

    pub(crate) fn into_values(self) -> Vec<Scalar> {
        self.values
    }

    pub(crate) fn values(&self) -> &[Scalar] {
        &self.values
    }
}

/// Field elements' limbs are as good as random, save for a few small ones: fold and multiply.
#[derive(Default)]
struct LimbHasher(u64);

impl Hasher for LimbHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(u64::from(b));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, _length: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_order_of_appearance() {
        let mut dictionary = Dictionary::new();
        let three = Scalar::from(3);
        assert_eq!(dictionary.intern(&three), Some(2));
        assert_eq!(dictionary.intern(&-Scalar::ONE), Some(1));
        assert_eq!(dictionary.intern(&Scalar::ONE), Some(0));
        assert_eq!(dictionary.intern(&Scalar::from(4)), Some(3));
        assert_eq!(dictionary.intern(&three), Some(2));
        assert_eq!(dictionary.into_values()[2], three);
    }

    #[test]
    fn runs_out_of_numbers_rather_than_wrapping() {
        let mut dictionary = Dictionary::new();
        for i in 2..Dictionary::LIMIT as u64 {
            assert_eq!(dictionary.intern(&Scalar::from(i)), Some(i as u16));
        }
        assert_eq!(dictionary.intern(&Scalar::from(1 << 20)), None);
        assert_eq!(dictionary.intern(&Scalar::from(7)), Some(7));
    }
}
