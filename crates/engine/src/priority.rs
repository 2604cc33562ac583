//! Which of two waiting jobs goes first.

use std::fmt;

use cuzk_filecoin::ProofKind;
use serde::{Deserialize, Serialize};

/// Urgency of a job. Within a priority the older job goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Background work.
    Low,
    /// Sealing and updates.
    Normal,
    /// Work with a deadline in minutes.
    High,
    /// Work with a deadline in seconds.
    Critical,
}

impl Priority {
    /// What a kind gets when the client names no priority: a missed WinningPoSt is a lost block, a missed WindowPoSt a fault fee.
    pub fn default_for(kind: ProofKind) -> Self {
        match kind {
            ProofKind::PoRep | ProofKind::SnapDeals => Self::Normal,
            ProofKind::WindowPoSt => Self::High,
            ProofKind::WinningPoSt => Self::Critical,
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Critical => "critical",
        })
    }
}
