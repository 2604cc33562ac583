//! Where a partition that went wrong is tried again: once more on the same device, then once on each other device, then nowhere.

/// Whether a device may try a partition, given the devices it failed on so far, in order.
pub(crate) fn may_try(failures: &[usize], device: usize) -> bool {
    match failures {
        [] => true,
        [only] if *only == device => true,
        _ => !failures.contains(&device),
    }
}

/// Whether any of these devices may.
pub(crate) fn any_left(failures: &[usize], mut devices: impl Iterator<Item = usize>) -> bool {
    devices.any(|d| may_try(failures, d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_device_once_more_then_the_others_then_none() {
        assert!(may_try(&[], 0));
        assert!(may_try(&[0], 0), "retry once on the same device");
        assert!(may_try(&[0], 1));
        assert!(!may_try(&[0, 0], 0));
        assert!(may_try(&[0, 0], 1));
        assert!(
            !may_try(&[0, 1], 0),
            "after another device failed too, the first is not asked again"
        );
        assert!(any_left(&[0, 0], 0..2));
        assert!(!any_left(&[0, 0, 1], 0..2));
        assert!(!any_left(&[0, 0], 0..1));
    }

    #[test]
    fn retries_are_bounded_for_any_number_of_devices() {
        for devices in 1..5 {
            let mut failures = Vec::new();
            while let Some(d) = (0..devices).find(|&d| may_try(&failures, d)) {
                failures.push(d);
                assert!(failures.len() <= devices + 1);
            }
        }
    }
}
