//! Memory for large arrays: on huge pages, and what was used is kept to be used again.

pub(crate) use cuzk_memory::{reserve, with_capacity};
use std::sync::{Mutex, PoisonError};

/// Things to be used again: as many as were ever in use at once.
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::new(Vec::new()))
    }
}

impl<T: Default> Pool<T> {
    /// Lends one, as its last user left it. It is lost if `run` panics.
    pub(crate) fn with<R>(&self, run: impl FnOnce(&mut T) -> R) -> R {
        let mut thing = self.idle(Vec::pop).unwrap_or_default();
        let result = run(&mut thing);
        self.idle(|idle| idle.push(thing));
        result
    }

    fn idle<R>(&self, access: impl FnOnce(&mut Vec<T>) -> R) -> R {
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
