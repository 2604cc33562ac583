//! Memory for large arrays that are read and written all over the place.
//!
//! With pages of 4 KiB nearly every access to such an array misses the TLB, and every first touch of a page is a trap. So
//! the system is asked for huge pages, which it may grant or not, and what was used is kept to be used again.

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

/// From this many bytes on huge pages are asked for.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 22;

/// Makes room for `capacity` elements in all, on huge pages where they are many.
pub(crate) fn reserve<T>(vector: &mut Vec<T>, capacity: usize) {
    if capacity > vector.capacity() {
        vector.reserve_exact(capacity - vector.len());
        advise(vector.as_ptr(), vector.capacity());
    }
}

/// An empty vector with room for `capacity` elements.
pub(crate) fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let mut vector = Vec::new();
    reserve(&mut vector, capacity);
    vector
}

#[cfg(target_os = "linux")]
fn advise<T>(start: *const T, count: usize) {
    let (from, to) = (start.addr(), start.addr() + count * size_of::<T>());
    let page = rustix::param::page_size();
    let (from, to) = (from.next_multiple_of(page), to & !(page - 1));
    if to.saturating_sub(from) < LARGE {
        return;
    }
    // SAFETY: whole pages inside the caller's own allocation; the advice changes no content.
    let advised = unsafe {
        let advice = rustix::mm::Advice::LinuxHugepage;
        rustix::mm::madvise(start.with_addr(from).cast_mut().cast(), to - from, advice)
    };
    // A kernel without huge pages says no; small ones do as well, only slower.
    if let Err(error) = advised {
        tracing::debug!(%error, "no huge pages");
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: *const T, _: usize) {}
