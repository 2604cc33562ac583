//! Views of raw uncompressed points.

use blst::{blst_fp, blst_fp_from_bendian, blst_fp2};
use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;

/// Bytes of an uncompressed G1 point: x, y, big-endian.
pub const G1_BYTES: usize = 96;
/// Bytes of an uncompressed G2 point: x.c1, x.c0, y.c1, y.c0, big-endian.
pub const G2_BYTES: usize = 192;

/// The top three bits of the first byte: compressed, infinity, sign. All are clear in a legal parameter file.
const FLAGS: u8 = 0xe0;

/// Why bytes are not a usable point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointError {
    /// A flag bit is set where none may be.
    #[error("found flag bits {found:#04x}, expected none (uncompressed and finite)")]
    Flags {
        /// The three flag bits.
        found: u8,
    },
    /// A coordinate is not below the field's modulus, or the point is not on the curve.
    #[error("found coordinates off the curve, expected a point on it")]
    OffCurve,
    /// The point is on the curve but outside the subgroup of prime order.
    #[error("found a point outside the prime-order subgroup, expected one inside")]
    Subgroup,
}

macro_rules! points {
    ($(#[$doc:meta])* $name:ident, $affine:ty, $size:expr, $decode:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            points: &'a [[u8; $size]],
        }

        impl<'a> $name<'a> {
            /// A view of concatenated uncompressed points. `None` when the length is no multiple of a point's.
            pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
                match bytes.as_chunks() {
                    (points, []) => Some(Self { points }),
                    _ => None,
                }
            }

            /// Number of points.
            pub fn len(&self) -> usize {
                self.points.len()
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.points.is_empty()
            }

            /// The encodings.
            pub fn encodings(&self) -> &'a [[u8; $size]] {
                self.points
            }

            /// All bytes, point after point.
            pub fn raw(&self) -> &'a [u8] {
                self.points.as_flattened()
            }

            /// A part of the view. Panics when the range does not lie inside, like slicing.
            pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
                Self { points: &self.points[range] }
            }

            /// Point `i`, converted without any check: bytes that encode no point give a meaningless value (never
            /// undefined behaviour), so the file must have passed its digest or its curve check before.
            pub fn get(&self, i: usize) -> $affine {
                $decode(&self.points[i])
            }

            /// Point `i`, checked for flags, canonical coordinates and the curve equation; not for the subgroup.
            pub fn check(&self, i: usize) -> Result<$affine, PointError> {
                let bytes = &self.points[i];
                let found = bytes[0] & FLAGS;
                if found != 0 {
                    return Err(PointError::Flags { found });
                }
                // blst's deserialisation checks the range of the coordinates and the curve equation.
                let point: Option<$affine> =
                    <$affine>::from_uncompressed_unchecked(bytes).into();
                match point {
                    Some(point) if !bool::from(point.is_identity()) => Ok(point),
                    _ => Err(PointError::OffCurve),
                }
            }
        }

        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({} points)", stringify!($name), self.len())
            }
        }
    };
}

points!(
    /// Uncompressed G1 points, 96 big-endian bytes each.
    G1Points,
    G1Affine,
    G1_BYTES,
    decode_g1
);
points!(
    /// Uncompressed G2 points, 192 big-endian bytes each.
    G2Points,
    G2Affine,
    G2_BYTES,
    decode_g2
);

fn decode_fp(bytes: &[u8; 48]) -> blst_fp {
    let mut fp = blst_fp::default();
    // SAFETY: reads 48 bytes, writes one field element; any 384-bit value is reduced by the conversion.
    unsafe { blst_fp_from_bendian(&mut fp, bytes.as_ptr()) };
    fp
}

fn decode_fp2(c1: &[u8; 48], c0: &[u8; 48]) -> blst_fp2 {
    blst_fp2 {
        fp: [decode_fp(c0), decode_fp(c1)],
    }
}

fn decode_g1(bytes: &[u8; G1_BYTES]) -> G1Affine {
    let (coordinates, _) = bytes.as_chunks::<48>();
    let mut point = G1Affine::default();
    let raw: &mut blst::blst_p1_affine = point.as_mut();
    raw.x = decode_fp(&coordinates[0]);
    raw.y = decode_fp(&coordinates[1]);
    point
}

fn decode_g2(bytes: &[u8; G2_BYTES]) -> G2Affine {
    let (coordinates, _) = bytes.as_chunks::<48>();
    let mut point = G2Affine::default();
    let raw: &mut blst::blst_p2_affine = point.as_mut();
    raw.x = decode_fp2(&coordinates[0], &coordinates[1]);
    raw.y = decode_fp2(&coordinates[2], &coordinates[3]);
    point
}
