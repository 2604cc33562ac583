//! Memory for large arrays that are read and written all over the place.
//!
//! With pages of 4 KiB nearly every access to such an array misses the TLB, and every first touch of a page is a trap. So
//! the system is asked for huge pages, which it may grant or not.

/// From this many bytes on huge pages are asked for.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 22;

/// Makes room for `capacity` elements in all, on huge pages where they are many.
pub fn reserve<T>(vector: &mut Vec<T>, capacity: usize) {
    if capacity > vector.capacity() {
        vector.reserve_exact(capacity - vector.len());
        advise(vector.as_ptr(), vector.capacity());
    }
}

/// An empty vector with room for `capacity` elements.
pub fn with_capacity<T>(capacity: usize) -> Vec<T> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays() {
        for count in [0, 1, 1000, 3_000_001] {
            let mut vector: Vec<u32> = (0..7).collect();
            reserve(&mut vector, count);
            assert!(vector.capacity() >= count && vector.iter().copied().eq(0..7));
            let place = vector.as_ptr();
            vector.resize(count.max(7), 9);
            assert!(count < 7 || vector.as_ptr() == place);
            assert!(vector[7..].iter().all(|x| *x == 9));
        }
    }
}
