//! The two groups, as the kernels know them.

use blst::{blst_p1, blst_p2};
use blstrs::{G1Projective, G2Projective};
use cuzk_groth16::{G1_BYTES, G2_BYTES};
use group::Group;

use crate::plain::Plain;

/// A group whose points the kernels add.
pub trait Curve: Send + Sync + 'static {
    /// A point on the host.
    type Point: Group;
    /// As a sum comes from the device.
    type Jacobian: Plain + Default;
    /// Whether its coordinates lie in Fp2.
    const IS_G2: bool;
    /// Bytes of a point, in a parameter file and on a device alike.
    const POINT_BYTES: usize;
    /// The point of a sum.
    fn point(jacobian: Self::Jacobian) -> Self::Point;
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
}
