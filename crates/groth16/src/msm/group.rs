//! The two groups of the pairing, as seen by the kernels.

use super::coordinate::Coordinate;
use super::kernel::Kernel;
use super::portable::Portable;
use blst::*;
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};

/// G1 or G2 of BLS12-381. Sealed: implemented by the markers [`G1`] and [`G2`].
pub trait Group: sealed::Kernels + Send + Sync + 'static {
    /// An uncompressed point as bellperson writes it: x then y, canonical, big-endian; infinity is `0x40 00 ...`.
    type Encoding: Copy + Send + Sync + AsRef<[u8]> + AsMut<[u8]> + for<'a> TryFrom<&'a [u8]>;
    /// blstrs' affine point.
    type Affine: Copy + Send + Sync + PartialEq + std::fmt::Debug + From<Self::Projective>;
    /// blstrs' Jacobian point.
    type Projective: group::Group<Scalar = Scalar>
        + group::Curve<AffineRepr = Self::Affine>
        + Send
        + From<Self::Affine>;

    /// The point with these coordinates, which must satisfy the curve's equation; `None` is infinity.
    #[doc(hidden)]
    fn from_coordinates(xy: Option<[Self::Coordinate; 2]>) -> Self::Affine;
    /// Its inverse.
    #[doc(hidden)]
    fn coordinates(point: &Self::Affine) -> Option<[Self::Coordinate; 2]>;
    /// blst's own Pippenger on one thread, better where bases are few.
    #[doc(hidden)]
    fn small_multiply(points: &[Self::Affine], scalars: &[Scalar]) -> Self::Projective;

    /// Affine points, with one inversion for many.
    #[doc(hidden)]
    fn normalise(points: &[Self::Projective]) -> Vec<Self::Affine>;

    /// Encodes a point.
    fn encode(point: &Self::Affine) -> Self::Encoding;
}

pub(super) mod sealed {
    use super::*;

    /// The kernels for a group, one an instruction set.
    pub trait Kernels: Sized {
        /// Field of the coordinates.
        type Coordinate: Coordinate;
        /// By blst.
        type Portable: Kernel<Group = Self>;
        /// In eight lanes, where the CPU has them.
        type Lanes: Kernel<Group = Self>;
    }
}

/// Decodes a point.
pub(super) fn decode<G: Group>(encoding: &G::Encoding) -> G::Affine {
    let bytes = encoding.as_ref();
    if bytes[0] & 0x40 != 0 {
        return G::from_coordinates(None);
    }
    let (x, y) = bytes.split_at(G::Coordinate::BYTES);
    // 2^768 takes the words into Montgomery form.
    let into = const { crate::field::fp_power_of_two(768) };
    let coordinate = |words: &[u8]| G::Coordinate::read_words(words).scale(&into);
    G::from_coordinates(Some([coordinate(x), coordinate(y)]))
}

macro_rules! group {
    ($(#[$doc:meta])* $marker:ident, $degree:literal, $bytes:literal, $coordinate:ident, $affine:ident, $projective:ident,
     $is_infinity:ident, $to_affine:ident, $scratch_size:ident, $pippenger:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $marker;

        impl sealed::Kernels for $marker {
            type Coordinate = $coordinate;
            type Portable = Portable<Self>;
            #[cfg(target_arch = "x86_64")]
            type Lanes = super::lanes::Lanes<Self, $degree>;
            #[cfg(not(target_arch = "x86_64"))]
            type Lanes = Portable<Self>;
        }

        impl Group for $marker {
            type Encoding = [u8; $bytes];
            type Affine = $affine;
            type Projective = $projective;

            fn from_coordinates(xy: Option<[$coordinate; 2]>) -> $affine {
                let mut point = $affine::default();
                let raw = point.as_mut();
                [raw.x, raw.y] = xy.unwrap_or_default();
                point
            }
            fn coordinates(point: &$affine) -> Option<[$coordinate; 2]> {
                let raw = point.as_ref();
                // SAFETY: reads the point.
                let infinity = unsafe { $is_infinity(raw) };
                (!infinity).then_some([raw.x, raw.y])
            }
            fn small_multiply(points: &[$affine], scalars: &[Scalar]) -> $projective {
                use ff::PrimeField;
                // blst's Pippenger refuses infinity, and takes pointers to points and to scalars.
                let finite = |p: &&$affine| Self::coordinates(p).is_some();
                let kept: Vec<_> = points.iter().zip(scalars).filter(|(p, _)| finite(p)).collect();
                let points: Vec<_> = kept.iter().map(|(p, _)| p.as_ref() as *const _).collect();
                let words: Vec<[u8; 32]> = kept.iter().map(|(_, s)| s.to_repr()).collect();
                let words: Vec<_> = words.iter().map(|s| s.as_ptr()).collect();
                let mut product = <$projective as group::Group>::identity();
                if !points.is_empty() {
                    // SAFETY: as many points and scalars as said, all alive; scratch of the size asked for.
                    unsafe {
                        let mut scratch = vec![0u64; $scratch_size(points.len()).div_ceil(8)];
                        let (p, s) = (points.as_ptr(), words.as_ptr());
                        $pippenger(product.as_mut(), p, points.len(), s, 255, scratch.as_mut_ptr());
                    }
                }
                product
            }
            fn normalise(points: &[$projective]) -> Vec<$affine> {
                let mut affine = vec![$affine::default(); points.len()];
                let pointers: Vec<_> = points.iter().map(|p| p.as_ref() as *const _).collect();
                if let Some(first) = affine.first_mut() {
                    // SAFETY: as many points as said, all alive, and room for as many: an affine point is blst's.
                    unsafe { $to_affine(&raw mut *first.as_mut(), pointers.as_ptr(), points.len()) };
                }
                affine
            }
            fn encode(point: &$affine) -> [u8; $bytes] {
                point.to_uncompressed()
            }
        }
    };
}

group!(
    /// Points over the base field, 96 bytes encoded.
    G1, 1, 96, blst_fp, G1Affine, G1Projective,
    blst_p1_affine_is_inf, blst_p1s_to_affine, blst_p1s_mult_pippenger_scratch_sizeof, blst_p1s_mult_pippenger
);
group!(
    /// Points over its quadratic extension, 192 bytes encoded.
    G2, 2, 192, blst_fp2, G2Affine, G2Projective,
    blst_p2_affine_is_inf, blst_p2s_to_affine, blst_p2s_mult_pippenger_scratch_sizeof, blst_p2s_mult_pippenger
);
