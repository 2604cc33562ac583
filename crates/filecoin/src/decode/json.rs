//! A strict JSON scanner for documents whose shape is known: numbers, byte arrays, fixed sets of keys.
//!
//! It takes what RFC 8259 allows where that can occur (white space, keys in any order) and nothing else: unknown,
//! repeated and missing keys, escapes, signs and fractions are errors that name the place.

use super::{LAYOUTS, MerkleProof, field_element, layout};
use crate::merkle::{Path, TreeShape};
use crate::request::RequestError;
use blstrs::Scalar;

type Result<T> = std::result::Result<T, RequestError>;

pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The error that `expected` is not what comes next.
    #[cold]
    fn wrong(&self, expected: impl ToString) -> RequestError {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let excerpt = String::from_utf8_lossy(&rest[..rest.len().min(24)]);
        let found = match rest {
            [] => format!("the end of the document at byte {}", self.at),
            _ => format!("{excerpt:?} at byte {}", self.at),
        };
        RequestError::new("", found, expected)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Takes `token` if it comes next.
    fn take(&mut self, token: u8) -> bool {
        self.skip_space();
        let taken = self.bytes.get(self.at) == Some(&token);
        self.at += usize::from(taken);
        taken
    }

    fn expect(&mut self, token: u8) -> Result<()> {
        if self.take(token) {
            return Ok(());
        }
        Err(self.wrong(format!("`{}`", char::from(token))))
    }

    /// The document ends here.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.skip_space();
        if self.at == self.bytes.len() {
            return Ok(());
        }
        Err(self.wrong("the end of the document"))
    }

    /// A string without escapes.
    pub(crate) fn string(&mut self) -> Result<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        let rest = &self.bytes[start..];
        let end = memchr::memchr2(b'"', b'\\', rest);
        match end {
            Some(len) if rest[len] == b'"' => {
                self.at = start + len + 1;
                std::str::from_utf8(&rest[..len]).map_err(|_| self.wrong("a string in UTF-8"))
            }
            _ => Err(self.wrong("a string without escapes")),
        }
    }

    /// A non-negative integer without sign, fraction or exponent.
    pub(crate) fn integer(&mut self) -> Result<u64> {
        self.skip_space();
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
            let next = value.checked_mul(10);
            value = match next.and_then(|v| v.checked_add(u64::from(digit - b'0'))) {
                Some(v) => v,
                None => {
                    self.at = start;
                    return Err(self.wrong("an integer below 2^64"));
                }
            };
            self.at += 1;
        }
        let digits = self.at - start;
        let continues = matches!(self.bytes.get(self.at), Some(b'.' | b'e' | b'E'));
        if digits == 0 || continues || (digits > 1 && self.bytes[start] == b'0') {
            self.at = start;
            return Err(self.wrong("a non-negative integer"));
        }
        Ok(value)
    }

    /// The first key of the object that comes next, which stays unread.
    pub(crate) fn first_key(&self) -> Result<&'a str> {
        let mut ahead = Scanner { ..*self };
        ahead.expect(b'{')?;
        ahead.string()
    }

    pub(crate) fn null(&mut self) -> Result<()> {
        self.skip_space();
        if !self.bytes[self.at..].starts_with(b"null") {
            return Err(self.wrong("null"));
        }
        self.at += 4;
        Ok(())
    }

    /// An object with exactly these keys, in any order; `value` reads the value of the key with that index.
    pub(crate) fn object<const N: usize>(
        &mut self,
        keys: [&str; N],
        mut value: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        let mut seen = [false; N];
        self.expect(b'{')?;
        let mut more = !self.take(b'}');
        while more {
            let key = self.string()?;
            let Some(i) = keys.iter().position(|k| *k == key) else {
                let expected = format!("only the fields {}", keys.join(", "));
                return Err(RequestError::new(key, "an unknown field", expected));
            };
            if std::mem::replace(&mut seen[i], true) {
                return Err(RequestError::new(key, "the field again", "it once"));
            }
            self.expect(b':')?;
            value(self, i).map_err(|e| e.within(key))?;
            more = self.take(b',');
            if !more {
                self.expect(b'}')?;
            }
        }
        match seen.iter().position(|s| !s) {
            None => Ok(()),
            Some(i) => Err(RequestError::new(keys[i], "nothing", "the field")),
        }
    }

    /// An array; `element` reads the element with that index. Returns their number.
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<usize> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Ok(0);
        }
        let mut len = 0;
        loop {
            element(self, len).map_err(|e| e.within(format!("[{len}]")))?;
            len += 1;
            if !self.take(b',') {
                self.expect(b']')?;
                return Ok(len);
            }
        }
    }

    /// An array of exactly `expected` elements.
    pub(crate) fn array_of(
        &mut self,
        expected: usize,
        what: &str,
        mut element: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        let found = self.array(|s, i| {
            if i >= expected {
                return Err(s.wrong(format!("only {expected} {what}")));
            }
            element(s, i)
        })?;
        if found == expected {
            return Ok(());
        }
        let (found, expected) = (format!("{found} {what}"), format!("{expected} {what}"));
        Err(RequestError::new("", found, expected))
    }

    /// An array of 32 bytes.
    pub(crate) fn bytes32(&mut self) -> Result<[u8; 32]> {
        self.skip_space();
        if let Some((bytes, length)) = compact_bytes32(&self.bytes[self.at..]) {
            self.at += length;
            return Ok(bytes);
        }
        let mut bytes = [0; 32];
        self.array_of(32, "bytes", |s, i| {
            let start = s.at;
            match u8::try_from(s.integer()?) {
                Ok(byte) => bytes[i] = byte,
                Err(_) => {
                    s.at = start;
                    return Err(s.wrong("an integer from 0 to 255"));
                }
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    /// A field element: 32 little-endian bytes below the modulus.
    pub(crate) fn element(&mut self) -> Result<Scalar> {
        field_element(&self.bytes32()?)
    }

    /// A Merkle proof of a tree with this shape.
    pub(crate) fn merkle_proof(&mut self, shape: &TreeShape) -> Result<MerkleProof> {
        let mut proof = MerkleProof::default();
        self.object(["data"], |s, _| {
            s.object([LAYOUTS[layout(shape)]], |s, _| s.layout(shape, &mut proof))
        })?;
        Ok(proof)
    }

    /// The members of a proof; the order of the keys decides nothing, so paths are joined at the end.
    fn layout(&mut self, shape: &TreeShape, proof: &mut MerkleProof) -> Result<()> {
        let MerkleProof { root, leaf, path } = proof;
        let (mut base, mut sub, mut top) = (Path::default(), Path::default(), Path::default());
        let (arity, levels) = (shape.base_arity, shape.base_levels);
        match layout(shape) {
            0 => self.object(["root", "leaf", "path"], |s, key| match key {
                0 => s.element().map(|e| *root = e),
                1 => s.element().map(|e| *leaf = e),
                _ => s.levels(levels, arity, &mut base),
            }),
            1 => self.object(
                ["base_proof", "sub_proof", "root", "leaf"],
                |s, key| match key {
                    0 => s.levels(levels, arity, &mut base),
                    1 => s.levels(1, shape.sub_arity, &mut sub),
                    2 => s.element().map(|e| *root = e),
                    _ => s.element().map(|e| *leaf = e),
                },
            ),
            _ => {
                let keys = ["base_proof", "sub_proof", "top_proof", "root", "leaf"];
                self.object(keys, |s, key| match key {
                    0 => s.levels(levels, arity, &mut base),
                    1 => s.levels(1, shape.sub_arity, &mut sub),
                    2 => s.levels(1, shape.top_arity, &mut top),
                    3 => s.element().map(|e| *root = e),
                    _ => s.element().map(|e| *leaf = e),
                })
            }
        }?;
        for upper in [sub, top] {
            base.positions.extend(upper.positions);
            base.siblings.extend(upper.siblings);
        }
        *path = base;
        Ok(())
    }

    /// So many levels of a path, all of one arity.
    fn levels(&mut self, levels: usize, arity: usize, path: &mut Path) -> Result<()> {
        path.positions.reserve_exact(levels + 2);
        path.siblings.reserve_exact(levels * (arity - 1) + 8);
        self.object(["path"], |s, _| {
            s.array_of(levels, "levels", |s, _| {
                s.object(["hashes", "index"], |s, key| match key {
                    0 => s.array_of(arity - 1, "siblings", |s, _| {
                        s.element().map(|e| path.siblings.push(e))
                    }),
                    _ => s.position(arity).map(|p| path.positions.push(p)),
                })
            })
        })
    }

    /// A position among `arity` siblings.
    fn position(&mut self, arity: usize) -> Result<u8> {
        let start = self.at;
        match self.integer()? {
            position if position < arity as u64 => Ok(position as u8),
            _ => {
                self.at = start;
                Err(self.wrong(format!("a position below {arity}")))
            }
        }
    }
}

/// Reads `[b,b,…,b]`, 32 bytes without white space, and tells its length. A C1 output has 300,000 of these, so the
/// digits of a number are taken together instead of one branch each. Anything unusual is `None`: the caller reads it
/// again, one character at a time, and finds out what it is.
fn compact_bytes32(text: &[u8]) -> Option<([u8; 32], usize)> {
    let mut bytes = [0; 32];
    let mut at = 1;
    if *text.first()? != b'[' {
        return None;
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        // A number and what follows it fit in four characters.
        let word = u32::from_le_bytes(*text.get(at..)?.first_chunk()?);
        // A digit becomes its value, and adding 0x76 sets the top bit of everything above 9.
        let digits = word ^ 0x3030_3030;
        let ends = (digits & 0x7f7f_7f7f).wrapping_add(0x7676_7676) | digits;
        let length = (ends & 0x8080_8080).trailing_zeros() / 8;
        if !(1..=3).contains(&length) {
            return None;
        }
        // Leading zeros to three digits, the hundreds in the lowest byte.
        let digits = (digits << (8 * (3 - length))) & 0x000f_0f0f;
        let [hundreds, tens, ones, _] = digits.to_le_bytes().map(u32::from);
        let value = hundreds * 100 + tens * 10 + ones;
        let shortest = 1 + u32::from(value > 9) + u32::from(value > 99);
        let end = if i == 31 { b']' } else { b',' };
        let found = (word >> (8 * length)) as u8;
        if value > 255 || length != shortest || found != end {
            return None;
        }
        *byte = value as u8;
        at += length as usize + 1;
    }
    Some((bytes, at))
}

#[cfg(test)]
mod tests;
