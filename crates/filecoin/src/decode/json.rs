//! A strict JSON scanner for documents whose shape is known: numbers, byte arrays, fixed sets of keys.
//!
//! It takes what RFC 8259 allows where that can occur (white space, keys in any order) and nothing else: unknown,
//! repeated and missing keys, escapes, signs and fractions are errors that name the place.

use super::bytes32::Reader;
use super::{LAYOUTS, MerkleProof, field_element, layout};
use crate::merkle::{Path, TreeShape};
use crate::request::RequestError;
use blstrs::Scalar;

type Result<T> = std::result::Result<T, RequestError>;

/// Text that comes in parts.
pub(crate) trait Source {
    /// What is there.
    fn window(&self) -> &[u8];
    /// Drops the `used` first bytes of the window and adds to its end; false, with the window as it was, when nothing
    /// follows.
    fn more(&mut self, used: usize) -> bool;
}

/// A whole document.
impl Source for &[u8] {
    #[inline]
    fn window(&self) -> &[u8] {
        self
    }

    fn more(&mut self, _: usize) -> bool {
        false
    }
}

pub(crate) struct Scanner<S> {
    source: S,
    /// Place in the window.
    at: usize,
    /// Bytes dropped before the window.
    dropped: usize,
    reader: Reader,
}

/// Bytes that a token is looked for in, more than any has but strings: an array of 32 bytes has 129.
const AHEAD: usize = 512;

impl<S: Source> Scanner<S> {
    pub(crate) fn new(source: S) -> Self {
        Self {
            source,
            at: 0,
            dropped: 0,
            reader: Reader::detect(),
        }
    }

    /// What the text comes from.
    pub(crate) fn source(&self) -> &S {
        &self.source
    }

    /// What is there of the text from here on.
    #[inline]
    fn rest(&self) -> &[u8] {
        self.source.window().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.source.window().get(self.at).copied()
    }

    #[cold]
    #[inline(never)]
    fn more(&mut self) -> bool {
        let more = self.source.more(self.at);
        if more {
            self.dropped += self.at;
            self.at = 0;
        }
        more
    }

    /// The error that `expected` is not what comes next.
    #[cold]
    fn wrong(&self, expected: impl ToString) -> RequestError {
        let (rest, at) = (self.rest(), self.dropped + self.at);
        let excerpt = String::from_utf8_lossy(&rest[..rest.len().min(24)]);
        let found = match rest {
            [] => format!("the end of the document at byte {at}"),
            _ => format!("{excerpt:?} at byte {at}"),
        };
        RequestError::new("", found, expected)
    }

    /// Skips white space, and sees to it that the next token is in the window.
    #[inline]
    fn skip_space(&mut self) {
        loop {
            if self.rest().len() < AHEAD {
                while self.rest().len() < AHEAD && self.more() {}
            }
            while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
                self.at += 1;
            }
            if !self.rest().is_empty() || !self.more() {
                return;
            }
        }
    }

    /// Takes `token` if it comes next.
    #[inline]
    fn take(&mut self, token: u8) -> bool {
        self.skip_space();
        let taken = self.peek() == Some(token);
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
        if self.rest().is_empty() {
            return Ok(());
        }
        Err(self.wrong("the end of the document"))
    }

    /// A string without escapes.
    pub(crate) fn string(&mut self) -> Result<String> {
        self.expect(b'"')?;
        let length = loop {
            if let Some(length) = memchr::memchr2(b'"', b'\\', self.rest()) {
                break length;
            }
            if !self.more() {
                return Err(self.wrong("a string without escapes"));
            }
        };
        let rest = self.rest();
        if rest[length] != b'"' {
            return Err(self.wrong("a string without escapes"));
        }
        match std::str::from_utf8(&rest[..length]) {
            Ok(text) => {
                let text = text.to_owned();
                self.at += length + 1;
                Ok(text)
            }
            Err(_) => Err(self.wrong("a string in UTF-8")),
        }
    }

    /// A non-negative integer without sign, fraction or exponent.
    pub(crate) fn integer(&mut self) -> Result<u64> {
        self.skip_space();
        let rest = self.rest();
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let continues = matches!(rest.get(digits), Some(b'.' | b'e' | b'E'));
        if digits == 0 || continues || (digits > 1 && rest[0] == b'0') {
            return Err(self.wrong("a non-negative integer"));
        }
        let value = rest[..digits].iter().try_fold(0u64, |value, digit| {
            value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        match value {
            Some(value) => {
                self.at += digits;
                Ok(value)
            }
            None => Err(self.wrong("an integer below 2^64")),
        }
    }

    pub(crate) fn null(&mut self) -> Result<()> {
        self.skip_space();
        if !self.rest().starts_with(b"null") {
            return Err(self.wrong("null"));
        }
        self.at += 4;
        Ok(())
    }

    /// The key among `keys` that comes next, if it is one.
    fn known_key(&mut self, keys: &[&str]) -> Option<usize> {
        self.skip_space();
        let rest = self.rest().strip_prefix(b"\"")?;
        let comes = |key: &str| {
            let rest = rest.strip_prefix(key.as_bytes());
            rest.is_some_and(|rest| rest.first() == Some(&b'"'))
        };
        let key = keys.iter().position(|key| comes(key))?;
        self.at += keys[key].len() + 2;
        Some(key)
    }

    /// A key among `keys`.
    fn key(&mut self, keys: &[&str]) -> Result<usize> {
        if let Some(key) = self.known_key(keys) {
            return Ok(key);
        }
        let key = self.string()?;
        let expected = format!("only the fields {}", keys.join(", "));
        Err(RequestError::new(key, "an unknown field", expected))
    }

    /// An object with one of these keys, and no other.
    pub(crate) fn one_of<const N: usize>(
        &mut self,
        keys: [&str; N],
        value: impl FnOnce(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        self.expect(b'{')?;
        let Some(key) = self.known_key(&keys) else {
            let found = self.string()?;
            let expected = format!("one of {}", keys.join(", "));
            return Err(RequestError::new("", format!("{found:?}"), expected));
        };
        self.expect(b':')?;
        value(self, key).map_err(|e| e.within(keys[key]))?;
        if self.take(b',') {
            let again = self.key(&keys[key..=key])?;
            return Err(RequestError::new(
                keys[key + again],
                "the field again",
                "it once",
            ));
        }
        self.expect(b'}')
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
            let i = self.key(&keys)?;
            let key = keys[i];
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
        if let Some((bytes, length)) = self.reader.read(self.rest()) {
            self.at += length;
            return Ok(bytes);
        }
        let mut bytes = [0; 32];
        self.array_of(32, "bytes", |s, i| {
            s.skip_space();
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
        self.skip_space();
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

impl<'a> Scanner<&'a [u8]> {
    /// The first key of the object that comes next, which stays unread.
    pub(crate) fn first_key(&self) -> Result<String> {
        let mut ahead = Scanner { ..*self };
        ahead.expect(b'{')?;
        ahead.string()
    }

    /// A string without escapes whose characters the caller looks at.
    pub(crate) fn raw_string(&mut self) -> Result<&'a [u8]> {
        self.expect(b'"')?;
        let rest = &self.source[self.at..];
        match memchr::memchr2(b'"', b'\\', rest) {
            Some(length) if rest[length] == b'"' => {
                self.at += length + 1;
                Ok(&rest[..length])
            }
            _ => Err(self.wrong("a string without escapes")),
        }
    }
}

#[cfg(test)]
mod tests;
