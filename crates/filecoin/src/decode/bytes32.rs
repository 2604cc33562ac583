//! Arrays of 32 byte numbers in JSON, `[b,b,…,b]`, read at once. A C1 output of 32 GiB has 330,000 of them.
//!
//! Every reader takes the array without white space, as serializers write it, and nothing else: `None` says that the text
//! is unusual or wrong, and the scanner then reads it one character at a time and finds out what it is.

#[cfg(target_arch = "x86_64")]
mod avx512;

/// Characters of the longest array, `[` included.
const LONGEST: usize = 1 + 32 * 4;

/// How the arrays are read. All give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    Portable,
    /// With AVX-512 and VBMI2.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Reader {
    /// The fastest reader of this processor.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if avx512::is_available() {
            return Self::Avx512;
        }
        Self::Portable
    }

    /// The array that `text` starts with, and its length in characters.
    #[inline]
    pub(super) fn read(self, text: &[u8]) -> Option<([u8; 32], usize)> {
        match self {
            Self::Portable => portable(text),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::read(text),
        }
    }
}

/// Finds where all numbers end before it looks at one, so that no number waits for the one before.
fn portable(text: &[u8]) -> Option<([u8; 32], usize)> {
    // The last number is read with the character behind its array.
    let text = text.first_chunk::<{ LONGEST + 3 }>()?;
    if text[0] != b'[' {
        return None;
    }
    let mut ends = 0u128;
    for (i, word) in text[1..LONGEST].as_chunks::<8>().0.iter().enumerate() {
        ends |= u128::from(no_digits(u64::from_le_bytes(*word))) << (8 * i);
    }
    let mut bytes = [0; 32];
    let (mut start, mut wrong) = (1, false);
    for (i, byte) in bytes.iter_mut().enumerate() {
        let end = 1 + ends.trailing_zeros() as usize;
        ends &= ends.wrapping_sub(1);
        let length = end.wrapping_sub(start);
        if length.wrapping_sub(1) > 2 {
            return None;
        }
        let word = u32::from_le_bytes(*text.get(start..)?.first_chunk()?);
        // Leading zeros to three digits, the hundreds in the lowest byte.
        let digits = (word << (8 * (3 - length))) & 0x000f_0f0f;
        let [hundreds, tens, ones, _] = digits.to_le_bytes().map(u32::from);
        let value = hundreds * 100 + tens * 10 + ones;
        let smallest = [0, 0, 10, 100][length];
        let follows = if i == 31 { b']' } else { b',' };
        wrong |= value > 255 || value < smallest || (word >> (8 * length)) as u8 != follows;
        *byte = value as u8;
        start = end + 1;
    }
    (!wrong).then_some((bytes, start))
}

/// Bit i says that byte i is no digit.
fn no_digits(word: u64) -> u8 {
    // A digit becomes its value, and adding 0x76 sets the top bit of everything above 9.
    let digits = word ^ 0x3030_3030_3030_3030;
    let sums = (digits & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676;
    let tops = ((sums | digits) >> 7) & 0x0101_0101_0101_0101;
    // Gathers the eight bits in the highest byte.
    (tops.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn readers() -> Vec<Reader> {
        let detected = Reader::detect();
        if detected == Reader::Portable {
            vec![detected]
        } else {
            vec![Reader::Portable, detected]
        }
    }

    /// The text with something behind it.
    fn read_all(text: &str) -> Vec<Option<([u8; 32], usize)>> {
        let text = format!("{text},\"index\":3}}{}", " ".repeat(LONGEST));
        readers()
            .iter()
            .map(|reader| reader.read(text.as_bytes()))
            .collect()
    }

    fn join(numbers: &[String]) -> String {
        format!("[{}]", numbers.join(","))
    }

    #[test]
    fn arrays_of_32_bytes_are_read() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in 0..2000 {
            let most = [9, 99, 255, 255][round % 4];
            let least = [0, 10, 100, 0][round % 4];
            let bytes: [u8; 32] = std::array::from_fn(|_| rng.gen_range(least..=most));
            let text = join(&bytes.map(|b| b.to_string()));
            for found in read_all(&text) {
                assert_eq!(found, Some((bytes, text.len())), "{text}");
            }
        }
    }

    #[test]
    fn anything_else_is_left_to_the_scanner() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let odd = [
            "",
            "00",
            "01",
            "000",
            "010",
            "256",
            "260",
            "299",
            "300",
            "999",
            "1000",
            "1234",
            "-1",
            "+1",
            "1.",
            " 1",
            "1 ",
            "1e1",
            "/",
            ":",
            "a",
            "[",
            "]",
            "\u{b0}",
            "\u{39}\u{fe}",
            "1,2",
            "0\u{0}",
            "25\u{6}",
        ];
        for odd in odd {
            for round in 0..200 {
                let most = [9, 99, 255][round % 3];
                let mut numbers: Vec<String> = (0..32)
                    .map(|_| rng.gen_range(0..=most).to_string())
                    .collect();
                numbers[rng.gen_range(0..32)] = odd.to_string();
                let text = join(&numbers);
                for found in read_all(&text) {
                    assert_eq!(found, None, "{text}");
                }
            }
        }
        let numbers = vec!["7".to_string(); 33];
        for text in [
            join(&numbers),
            join(&numbers[..31]),
            join(&numbers[..32]).replace(']', ","),
            join(&numbers[..32]).replace('[', "("),
            join(&numbers[..32]).replace(']', "}"),
            join(&numbers[..32]).replacen("7,7", "7]7", 1),
        ] {
            for found in read_all(&text) {
                assert_eq!(found, None, "{text}");
            }
        }
        for reader in readers() {
            let text = join(&numbers[..32]);
            assert_eq!(reader.read(text.as_bytes()), None, "{reader:?}");
            assert_eq!(reader.read(b""), None);
        }
    }
}
