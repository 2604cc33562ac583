//! Values as they are written in a configuration file.

use std::path::PathBuf;
use std::time::Duration;

use cuzk_filecoin::CircuitId;
use toml::Value;

use super::{Budget, DeviceMemory, Devices, Listen, LogFormat};

/// A type that a TOML value can be turned into.
pub(super) trait FromValue: Sized {
    /// What to write, for errors.
    const EXPECTED: &'static str;

    /// None when the value does not fit.
    fn from_value(value: &Value) -> Option<Self>;
}

impl FromValue for String {
    const EXPECTED: &'static str = "a string";

    fn from_value(value: &Value) -> Option<Self> {
        value.as_str().map(Into::into)
    }
}

impl FromValue for PathBuf {
    const EXPECTED: &'static str = "a path that is not empty";

    fn from_value(value: &Value) -> Option<Self> {
        value.as_str().filter(|s| !s.is_empty()).map(Into::into)
    }
}

impl FromValue for usize {
    const EXPECTED: &'static str = "a whole number, 0 or more";

    fn from_value(value: &Value) -> Option<Self> {
        value.as_integer().and_then(|n| n.try_into().ok())
    }
}

impl FromValue for Listen {
    const EXPECTED: &'static str = "HOST:PORT or unix:///path";

    fn from_value(value: &Value) -> Option<Self> {
        Listen::parse(value.as_str()?)
    }
}

/// A number of bytes, at most 2^63 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) u64);

impl FromValue for Bytes {
    const EXPECTED: &'static str = "a size such as \"256GiB\", \"512MiB\" or a number of bytes";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(n) => u64::try_from(*n).ok().map(Bytes),
            Value::String(text) => bytes(text).map(Bytes),
            _ => None,
        }
    }
}

impl FromValue for Budget {
    const EXPECTED: &'static str = "\"auto\" or a size such as \"256GiB\"";

    fn from_value(value: &Value) -> Option<Self> {
        if value.as_str() == Some("auto") {
            return Some(Budget::Auto);
        }
        Bytes::from_value(value).map(|b| Budget::Bytes(b.0))
    }
}

impl FromValue for Duration {
    const EXPECTED: &'static str =
        "a duration such as \"5m\", \"90s\", \"250ms\", \"24h\" or a number of seconds";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(n) => u64::try_from(*n).ok().map(Duration::from_secs),
            Value::String(text) => duration(text),
            _ => None,
        }
    }
}

impl FromValue for Devices {
    const EXPECTED: &'static str = "a list of device numbers such as [0, 1]; [] means all";

    fn from_value(value: &Value) -> Option<Self> {
        let list = value.as_array()?;
        let ordinal = |v: &Value| v.as_integer().and_then(|n| u32::try_from(n).ok());
        let ordinals: Vec<u32> = list.iter().map(ordinal).collect::<Option<_>>()?;
        let mut once = ordinals.clone();
        once.sort_unstable();
        once.dedup();
        if once.len() != ordinals.len() {
            return None;
        }
        Some(if ordinals.is_empty() {
            Devices::All
        } else {
            Devices::Only(ordinals)
        })
    }
}

impl FromValue for DeviceMemory {
    const EXPECTED: &'static str =
        "a size such as \"24GiB\", or a list of sizes, one for each device";

    fn from_value(value: &Value) -> Option<Self> {
        let size = |value: &Value| Bytes::from_value(value).map(|bytes| bytes.0);
        match value.as_array() {
            None => size(value).map(Self::Each),
            Some(list) => {
                let sizes: Option<Vec<u64>> = list.iter().map(size).collect();
                sizes.map(Self::Listed)
            }
        }
    }
}

impl FromValue for Vec<CircuitId> {
    const EXPECTED: &'static str = "a list of circuit ids such as [\"porep-32g\", \"wpost-32g\"]";

    fn from_value(value: &Value) -> Option<Self> {
        let circuit = |v: &Value| v.as_str().and_then(|id| id.parse().ok());
        value.as_array()?.iter().map(circuit).collect()
    }
}

impl FromValue for LogFormat {
    const EXPECTED: &'static str = "\"text\" or \"json\"";

    fn from_value(value: &Value) -> Option<Self> {
        match value.as_str()? {
            // Names that other daemons give to their formats for people.
            "text" | "pretty" | "compact" | "full" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        }
    }
}

/// "256GiB", "1.5 GiB", "10GB", "4096".
fn bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 13] = [
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("k", 1 << 10),
        ("m", 1 << 20),
        ("g", 1 << 30),
        ("t", 1 << 40),
        ("b", 1),
    ];
    let text = text.trim().to_ascii_lowercase();
    let unit = UNITS.iter().find(|unit| text.ends_with(unit.0));
    let (digits, unit) = match unit {
        Some(&(name, unit)) => (text[..text.len() - name.len()].trim_end(), unit),
        None => (text.as_str(), 1),
    };
    scaled(digits, unit).filter(|&n| i64::try_from(n).is_ok())
}

/// "5m", "90 s", "250ms", "1h", "2d", "300".
fn duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, u64); 6] = [
        ("ms", 1),
        ("min", 60_000),
        ("s", 1_000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ];
    let text = text.trim();
    let unit = UNITS.iter().find(|unit| text.ends_with(unit.0));
    let (digits, unit) = match unit {
        Some(&(name, unit)) => (text[..text.len() - name.len()].trim_end(), unit),
        None => (text, 1_000),
    };
    scaled(digits, unit).map(Duration::from_millis)
}

/// A decimal number times a unit; none when it is not one, or out of range. Exact for whole numbers.
fn scaled(digits: &str, unit: u64) -> Option<u64> {
    let is_number = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !is_number {
        return None;
    }
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(unit);
    }
    let value = digits.parse::<f64>().ok()? * unit as f64;
    (value < 2f64.powi(63)).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("256GiB", Some(256 << 30)),
            ("256 gib", Some(256 << 30)),
            ("1.5GiB", Some(3 << 29)),
            ("10GB", Some(10_000_000_000)),
            ("4096", Some(4096)),
            ("0", Some(0)),
            ("", None),
            ("GiB", None),
            ("-1GiB", None),
            ("1e3", None),
            ("1.2.3G", None),
            ("auto", None),
            ("9999999999TiB", None),
            ("18446744073709551615", None),
        ] {
            assert_eq!(bytes(text), expected, "{text:?}");
        }
    }

    #[test]
    fn durations() {
        for (text, expected) in [
            ("5m", Some(300_000)),
            ("5 min", Some(300_000)),
            ("90s", Some(90_000)),
            ("250ms", Some(250)),
            ("24h", Some(86_400_000)),
            ("1.5h", Some(5_400_000)),
            ("300", Some(300_000)),
            ("", None),
            ("soon", None),
            ("-5m", None),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(
                duration(text),
                expected.map(Duration::from_millis),
                "{text:?}"
            );
        }
    }

    #[test]
    fn memory_of_one_device_or_of_each() {
        let each = DeviceMemory::from_value(&Value::from("24GiB")).expect("a size");
        assert_eq!((each.cap(0), each.cap(7)), (Some(24 << 30), Some(24 << 30)));
        let list = Value::from(vec!["24GB", "80GB"]);
        let list = DeviceMemory::from_value(&list).expect("sizes");
        let caps = [0, 1, 2].map(|place| list.cap(place));
        assert_eq!(caps, [Some(24_000_000_000), Some(80_000_000_000), None]);
        assert_eq!(DeviceMemory::from_value(&Value::from("much")), None);
        assert_eq!(DeviceMemory::Whole.cap(0), None);
    }

    #[test]
    fn the_same_device_twice_is_refused() {
        let list = |ordinals: &[i64]| Value::from(ordinals.to_vec());
        assert_eq!(Devices::from_value(&list(&[])), Some(Devices::All));
        assert_eq!(
            Devices::from_value(&list(&[1, 0])),
            Some(Devices::Only(vec![1, 0]))
        );
        assert_eq!(Devices::from_value(&list(&[0, 0])), None);
        assert_eq!(Devices::from_value(&list(&[-1])), None);
    }
}
