//! The two groups, as the kernels know them.

use blst::{blst_p1, blst_p2};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use cuzk_groth16::{G1_BYTES, G2_BYTES};
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};

use crate::plain::Plain;

/// A group whose points the kernels add.
pub trait Curve: Send + Sync + 'static {
    /// A point on the host.
    type Point: Group<Scalar = Scalar>;
    /// As a sum comes from the device.
    type Jacobian: Plain + Default;
    /// Whether its coordinates lie in Fp2.
    const IS_G2: bool;
    /// Bytes of a point, in a parameter file and on a device alike.
    const POINT_BYTES: usize;
    /// The point of a sum.
    fn point(jacobian: Self::Jacobian) -> Self::Point;
    /// Points as a parameter file has them: uncompressed.
    fn encode(points: &[Self::Point]) -> Vec<u8>;
}

/// G1: coordinates in Fp.
#[derive(Debug)]
pub enum G1 {}

/// G2: coordinates in Fp2.
#[derive(Debug)]
pub enum G2 {}

impl Curve for G1 {
    type Point = G1Projective;
    type Jacobian = blst_p1;
    const IS_G2: bool = false;
    const POINT_BYTES: usize = G1_BYTES;

    fn point(sum: blst_p1) -> G1Projective {
        let mut point = G1Projective::identity();
        *point.as_mut() = sum;
        point
    }

    fn encode(points: &[G1Projective]) -> Vec<u8> {
        let mut affine = vec![G1Affine::identity(); points.len()];
        G1Projective::batch_normalize(points, &mut affine);
        affine.iter().flat_map(G1Affine::to_uncompressed).collect()
    }
}

impl Curve for G2 {
    type Point = G2Projective;
    type Jacobian = blst_p2;
    const IS_G2: bool = true;
    const POINT_BYTES: usize = G2_BYTES;

    fn point(sum: blst_p2) -> G2Projective {
        let mut point = G2Projective::identity();
        *point.as_mut() = sum;
        point
    }

    fn encode(points: &[G2Projective]) -> Vec<u8> {
        let mut affine = vec![G2Affine::identity(); points.len()];
        G2Projective::batch_normalize(points, &mut affine);
        affine.iter().flat_map(G2Affine::to_uncompressed).collect()
    }
}
