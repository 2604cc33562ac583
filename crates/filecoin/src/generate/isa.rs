//! Which instructions the generators use.

/// A path through the hash kernels. All give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Plain 64-bit code, on any processor.
    Portable,
    /// AVX2 with FMA (Haswell, Zen and later): eight Poseidon hashes at a time. SHA-256 is the portable path's, which is 8% of
    /// a PoRep's witness there.
    Avx2,
    /// AVX-512 with IFMA, VBMI2 and GFNI (Ice Lake, Zen 4 and later): eight SHA-256 messages, sixteen Poseidon hashes at
    /// a time.
    Avx512,
}

impl Isa {
    /// The fastest path of this processor.
    pub fn detect() -> Isa {
        let best_first = [Isa::Avx512, Isa::Avx2];
        let best = best_first.into_iter().find(|isa| isa.is_available());
        best.unwrap_or(Isa::Portable)
    }

    /// Whether this processor can take the path.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
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
            Isa::Avx2 | Isa::Avx512 => false,
        }
    }

    /// All paths that this processor can take.
    pub fn available() -> Vec<Isa> {
        [Isa::Portable, Isa::Avx2, Isa::Avx512]
            .into_iter()
            .filter(|isa| isa.is_available())
            .collect()
    }
}
