//! Devices and their errors.

use crate::support::device;
use cuzk_cuda::{Device, DeviceError, Platform};

#[test]
fn running_out_of_memory_is_an_error_that_may_be_retried() {
    let refused = device()
        .allocate(1 << 40)
        .err()
        .expect("no device has so much");
    match &refused {
        DeviceError::OutOfMemory {
            requested,
            call,
            file,
            line,
        } => {
            assert_eq!(*requested, 1 << 40);
            assert!(
                call.starts_with("cudaMalloc") && file == "api.cu" && *line > 0,
                "{refused}"
            );
        }
        other => panic!("{other}"),
    }
    assert!(refused.is_retryable());
}

#[test]
fn memory_is_given_back() {
    let device = device();
    let (_, total) = device.memory().expect("memory");
    const PIECE: u64 = 256 << 20;
    for _ in 0..total / PIECE + 1 {
        device.allocate(PIECE).expect("memory that was given back");
    }
}

#[test]
fn copies_of_any_length_arrive() {
    let device = device();
    for length in [0usize, 1, 1000, (32 << 20) + 1, (64 << 20) + 12345] {
        let bytes: Vec<u8> = (0..length).map(|i| (i * 31 % 251) as u8).collect();
        let memory = device.allocate_copy(&bytes).expect("memory");
        let mut back = vec![0u8; length];
        memory.all().download(&mut back).expect("download");
        assert!(back == bytes, "{length} bytes");
    }
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let refused = Device::open(Platform::Emulated, 7).err();
    assert_eq!(
        refused,
        Some(DeviceError::NoDevice {
            ordinal: 7,
            found: 2
        })
    );
}

#[test]
fn without_code_for_devices_there_are_none() {
    if cfg!(feature = "cuda") {
        return;
    }
    assert_eq!(Platform::Cuda.device_count(), Ok(0));
    let refused = Device::open(Platform::Cuda, 0).err();
    assert_eq!(refused, Some(DeviceError::NotCompiled { feature: "cuda" }));
}

/// CUDA keeps a failed call as the thread's last error; work that comes after it must not be blamed.
#[test]
fn work_after_running_out_of_memory_is_not_blamed() {
    let device = device();
    let other = device.another().expect("the device once more");
    assert!(device.allocate(1 << 40).is_err());
    let backend = cuzk_cuda::CudaBackend::new(other).expect("a backend");
    assert_eq!(cuzk_cuda::self_test(&backend), Ok(()));
}
