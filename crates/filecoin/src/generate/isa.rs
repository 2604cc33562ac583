//! Which instructions the generators use.

/// A path through the hash kernels. All give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Plain 64-bit code, on any processor.
    Portable,
    /// AVX-512 with IFMA, VBMI2 and GFNI (Ice Lake, Zen 4 and later): eight SHA-256 messages, sixteen Poseidon hashes at
    /// a time.
    ///
    /// There is no path for AVX2 alone. SHA-256 is 6% of the portable path, and Poseidon in four lanes of doubles would take
    /// a third to half of its time off; a proof takes so much longer that a witness in 0.1 s keeps nobody waiting.
    Avx512,
}

impl Isa {
    /// The fastest path of this processor.
    pub fn detect() -> Isa {
        if Isa::Avx512.is_available() {
            Isa::Avx512
        } else {
            Isa::Portable
        }
    }

    /// Whether this processor can take the path.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512ifma")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
                    && is_x86_feature_detected!("gfni")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 => false,
        }
    }

    /// All paths that this processor can take.
    pub fn available() -> Vec<Isa> {
        [Isa::Portable, Isa::Avx512]
            .into_iter()
            .filter(|isa| isa.is_available())
            .collect()
    }
}
