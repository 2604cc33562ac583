//! Text for people and their scripts, or one JSON value.

use serde::Serialize;

use crate::error::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Text,
    Json,
}

impl Output {
    /// Prints `value` as JSON, or calls `text`, which prints it for people.
    pub(crate) fn print<T: Serialize>(self, value: &T, text: impl FnOnce(&T)) -> Result<(), Error> {
        match self {
            Self::Text => text(value),
            Self::Json => {
                let json = serde_json::to_string_pretty(value)
                    .map_err(|cause| Error::Failed(format!("no JSON could be made: {cause}")))?;
                println!("{json}");
            }
        }
        Ok(())
    }

    pub(crate) fn is_text(self) -> bool {
        self == Self::Text
    }
}

/// `1536` -> `1.5 KiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{count} B")
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// `12345678` -> `12,345,678`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The median; of an even number of values the lower one of the two in the middle.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted
        .get(sorted.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{bytes, grouped, median};

    #[test]
    fn byte_counts_take_the_largest_unit_below_them() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(44 << 30), "44.0 GiB");
    }

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(130_278_869), "130,278,869");
    }

    #[test]
    fn the_median_is_a_measured_value() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.0);
        assert!(median([]).is_nan());
    }
}
