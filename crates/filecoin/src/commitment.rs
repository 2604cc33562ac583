//! Commitments as people write them: 64 hexadecimal digits, or the CID by which Filecoin tools name CommD and CommR.
//!
//! The CIDs are version 1 in base32 (multibase `b`). Codecs and hashes are the multicodec table's
//! `fil-commitment-unsealed` (0xf101) with `sha2-256-trunc254-padded` (0x1012) for CommD, and `fil-commitment-sealed`
//! (0xf102) with `poseidon-bls12_381-a2-fc1` (0xb401) for CommR.

/// Version, codec, hash and length of a CommD's CID, as LEB128.
const COMM_D: &[u8] = &[0x01, 0x81, 0xe2, 0x03, 0x92, 0x20, 0x20];
/// The same of a CommR's CID.
const COMM_R: &[u8] = &[0x01, 0x82, 0xe2, 0x03, 0x81, 0xe8, 0x02, 0x20];

/// The digits of base32 (RFC 4648), in lower case.
const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// A text that is no commitment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found {found}, expected {expected}")]
pub struct CommitmentError {
    /// The text, in quotes.
    pub found: String,
    /// What would be one.
    pub expected: String,
}

/// Reads a CommD: the raw 32 bytes.
pub fn parse_comm_d(text: &str) -> Result<[u8; 32], CommitmentError> {
    parse(text, COMM_D, "baga6ea4seaq")
}

/// Reads a CommR: the raw 32 bytes.
pub fn parse_comm_r(text: &str) -> Result<[u8; 32], CommitmentError> {
    parse(text, COMM_R, "bagboea4b5abc")
}

/// The CID of a CommD.
pub fn comm_d_cid(comm_d: &[u8; 32]) -> String {
    cid(COMM_D, comm_d)
}

/// The CID of a CommR.
pub fn comm_r_cid(comm_r: &[u8; 32]) -> String {
    cid(COMM_R, comm_r)
}

fn cid(head: &[u8], commitment: &[u8; 32]) -> String {
    let mut text = String::from("b");
    let (mut buffer, mut bits) = (0u32, 0);
    for byte in head.iter().chain(commitment) {
        buffer = buffer << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(DIGITS[(buffer >> bits) as usize] as char);
            buffer &= (1 << bits) - 1;
        }
    }
    if bits > 0 {
        text.push(DIGITS[(buffer << (5 - bits)) as usize] as char);
    }
    text
}

fn parse(text: &str, head: &[u8], prefix: &'static str) -> Result<[u8; 32], CommitmentError> {
    // No hexadecimal number starts like a CID, whatever its length.
    let bytes = if text.starts_with(prefix) {
        base32(&text[1..]).and_then(|cid| cid.strip_prefix(head).map(<[u8]>::to_vec))
    } else {
        hex::decode(text).ok()
    };
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| CommitmentError {
            found: format!("{text:?}"),
            expected: format!("64 hexadecimal digits or a CID that starts with {prefix}"),
        })
}

/// Lower-case base32 without padding (RFC 4648); the bits left over must be zero.
fn base32(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut buffer, mut bits) = (0u32, 0);
    for digit in text.bytes() {
        let value = DIGITS.iter().position(|d| *d == digit)?;
        buffer = buffer << 5 | value as u32;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((buffer >> bits) as u8);
            buffer &= (1 << bits) - 1;
        }
    }
    (bits < 5 && buffer == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CommD of an empty 2 KiB sector, as Lotus prints it.
    #[test]
    fn a_known_cid() {
        let text = "baga6ea4seaqpy7usqklokfx2vxuynmupslkeutzexe2uqurdg5vhtebhxqmpqmy";
        let zeros = "fc7e928296e516faade986b28f92d44a4f24b935485223376a799027bc18f833";
        assert_eq!(hex::encode(parse_comm_d(text).unwrap()), zeros);
        assert_eq!(comm_d_cid(&parse_comm_d(zeros).unwrap()), text);
    }

    #[test]
    fn hex_and_cids_are_read() {
        let commitment: [u8; 32] = std::array::from_fn(|i| (i * 37 + 1) as u8);
        let (d, r) = (comm_d_cid(&commitment), comm_r_cid(&commitment));
        assert!(
            d.starts_with("baga6ea4seaq") && r.starts_with("bagboea4b5abc"),
            "{d} {r}"
        );
        assert_eq!(parse_comm_d(&d), Ok(commitment));
        assert_eq!(parse_comm_r(&r), Ok(commitment));
        assert_eq!(parse_comm_d(&hex::encode(commitment)), Ok(commitment));
        // Sixty-four digits that start with a b are hexadecimal.
        assert_eq!(parse_comm_r(&"b".repeat(64)), Ok([0xbb; 32]));
        for bad in [
            "",
            "b",
            "00",
            r.as_str(),
            &d[..d.len() - 1],
            &format!("{d}a"),
            "zz",
        ] {
            assert!(parse_comm_d(bad).is_err(), "{bad}");
        }
    }
}
