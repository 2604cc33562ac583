//! The memory budget: pure arithmetic, no clock, no system calls.
//!
//! Invariant: `reserved <= total`, and `reserved` is the sum of what the outstanding [`Reservation`]s hold. A reservation is granted
//! whole or not at all, cannot be copied, and is given back by moving it, so nothing is released twice and the free amount, `total -
//! reserved`, cannot wrap.

use std::collections::BTreeMap;

/// Bytes that may be reserved, and who holds them.
#[derive(Debug)]
pub struct Budget {
    total: u64,
    reserved: u64,
    next: u64,
    held: BTreeMap<u64, Held>,
}

/// One holder's share, for display.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Held {
    /// What the bytes are for.
    pub owner: String,
    /// How many.
    pub bytes: u64,
}

/// A share of the budget. Give it back with [`Budget::release`].
#[derive(Debug)]
#[must_use = "bytes stay reserved until the reservation is released"]
pub struct Reservation {
    id: u64,
    bytes: u64,
}

/// Why a reservation was not granted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// More than the whole budget: waiting will not help.
    #[error("needs {needed} bytes, more than the whole memory budget of {total} bytes")]
    Never {
        /// Bytes asked for.
        needed: u64,
        /// Bytes of the budget.
        total: u64,
    },
    /// Others hold too much at the moment.
    #[error("needs {needed} bytes, found {free} of {total} bytes free")]
    NotNow {
        /// Bytes asked for.
        needed: u64,
        /// Bytes that nobody holds.
        free: u64,
        /// Bytes of the budget.
        total: u64,
    },
}

impl Budget {
    /// A budget of so many bytes, all free.
    pub fn new(total: u64) -> Self {
        Self {
            total,
            reserved: 0,
            next: 0,
            held: BTreeMap::new(),
        }
    }

    /// Bytes of the whole budget.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that are held.
    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Bytes that nobody holds.
    pub fn free(&self) -> u64 {
        self.total - self.reserved
    }

    /// Holders, oldest first.
    pub fn held(&self) -> impl Iterator<Item = &Held> {
        self.held.values()
    }

    /// Whether so many bytes could be granted now.
    pub fn check(&self, bytes: u64) -> Result<(), Refused> {
        if bytes > self.total {
            return Err(Refused::Never {
                needed: bytes,
                total: self.total,
            });
        }
        if bytes > self.free() {
            return Err(Refused::NotNow {
                needed: bytes,
                free: self.free(),
                total: self.total,
            });
        }
        Ok(())
    }

    /// Takes the whole amount or nothing.
    pub fn reserve(
        &mut self,
        owner: impl Into<String>,
        bytes: u64,
    ) -> Result<Reservation, Refused> {
        self.check(bytes)?;
        self.reserved += bytes;
        let id = self.next;
        self.next += 1;
        let owner = owner.into();
        self.held.insert(id, Held { owner, bytes });
        Ok(Reservation { id, bytes })
    }

    /// Gives a share back; answers how many bytes that freed.
    pub fn release(&mut self, reservation: Reservation) -> u64 {
        let held = self.held.remove(&reservation.id);
        debug_assert!(held.is_some(), "reservation of another budget");
        let bytes = held.map_or(0, |h| h.bytes);
        self.reserved = self.reserved.saturating_sub(bytes);
        bytes
    }
}

impl Reservation {
    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reservation_larger_than_the_budget_never_waits() {
        let mut budget = Budget::new(100);
        let all = budget.reserve("all", 100).expect("fits exactly");
        assert_eq!(
            budget.reserve("one", 1).err(),
            Some(Refused::NotNow {
                needed: 1,
                free: 0,
                total: 100
            })
        );
        assert_eq!(
            budget.reserve("too much", 101).err(),
            Some(Refused::Never {
                needed: 101,
                total: 100
            })
        );
        assert_eq!(budget.release(all), 100);
        assert_eq!(budget.free(), 100);
    }

    proptest! {
        /// A naive ledger, summed in 128 bits, must agree after every step.
        #[test]
        fn arithmetic_never_wraps(
            total in prop_oneof![any::<u64>(), 0u64..1000, Just(u64::MAX)],
            steps in prop::collection::vec(
                (any::<bool>(), prop_oneof![any::<u64>(), 0u64..1000, Just(u64::MAX)], any::<prop::sample::Index>()), 1..60),
        ) {
            let mut budget = Budget::new(total);
            let mut ledger: Vec<Reservation> = Vec::new();
            for (take, bytes, pick) in steps {
                let sum: u128 = ledger.iter().map(|r| u128::from(r.bytes())).sum();
                if take || ledger.is_empty() {
                    let granted = budget.reserve("x", bytes);
                    prop_assert_eq!(granted.is_ok(), sum + u128::from(bytes) <= u128::from(total));
                    ledger.extend(granted);
                } else {
                    let gone = ledger.swap_remove(pick.index(ledger.len()));
                    let bytes = gone.bytes();
                    prop_assert_eq!(budget.release(gone), bytes);
                }
                let sum: u128 = ledger.iter().map(|r| u128::from(r.bytes())).sum();
                prop_assert_eq!(u128::from(budget.reserved()), sum);
                prop_assert_eq!(u128::from(budget.free()), u128::from(total) - sum);
                prop_assert_eq!(budget.held().count(), ledger.len());
            }
        }
    }
}
