//! Which instruction set a kernel uses.

use std::fmt;
use std::str::FromStr;

/// An implementation of the CPU kernels. All give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// blst's scalar arithmetic, on any CPU.
    Portable,
    /// Eight lanes of 52-bit limbs: AVX-512 F, DQ, BW, VL and IFMA.
    Avx512Ifma,
}

impl Isa {
    /// All of them, fastest first.
    pub const ALL: [Isa; 2] = [Isa::Avx512Ifma, Isa::Portable];

    /// The fastest that this CPU has.
    pub fn detect() -> Self {
        if Isa::Avx512Ifma.is_available() {
            Isa::Avx512Ifma
        } else {
            Isa::Portable
        }
    }

    /// Whether this CPU can run it. The kernels panic when asked for one that it cannot.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Ifma => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512ifma")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512Ifma => false,
        }
    }

    /// # Panics
    /// When this CPU cannot run it: past this check the vector kernels may be entered.
    pub(crate) fn require(self) {
        assert!(self.is_available(), "this cpu has no {self}");
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isa::Portable => "portable",
            Isa::Avx512Ifma => "avx512ifma",
        })
    }
}

/// A name that is no [`Isa`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown instruction set {found:?}, expected \"portable\" or \"avx512ifma\"")]
pub struct UnknownIsa {
    /// The name given.
    pub found: String,
}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(name: &str) -> Result<Self, UnknownIsa> {
        let found = || UnknownIsa { found: name.into() };
        Isa::ALL
            .into_iter()
            .find(|isa| isa.to_string() == name)
            .ok_or_else(found)
    }
}
