//! A strict reader of bincode 1 in its default form: little-endian integers, 64-bit lengths, 32-bit variants.

use super::{LAYOUTS, MerkleProof, field_element, layout};
use crate::merkle::{Path, TreeShape};
use crate::request::RequestError;
use blstrs::Scalar;

type Result<T> = std::result::Result<T, RequestError>;

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn take<const N: usize>(&mut self, field: &str) -> Result<[u8; N]> {
        let rest = &self.bytes[self.at..];
        match rest.first_chunk::<N>() {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => {
                let found = format!("{} bytes after byte {}", rest.len(), self.at);
                Err(RequestError::new(field, found, format!("{N} bytes")))
            }
        }
    }

    /// Nothing follows.
    pub(crate) fn end(&self) -> Result<()> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            surplus => {
                let found = format!("{surplus} bytes after byte {}", self.at);
                Err(RequestError::new("", found, "the end of the proof"))
            }
        }
    }

    pub(crate) fn integer(&mut self, field: &str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(field)?))
    }

    /// A field element: 32 little-endian bytes below the modulus.
    pub(crate) fn element(&mut self, field: &str) -> Result<Scalar> {
        field_element(&self.take(field)?).map_err(|e| e.within(field))
    }

    /// The length of a sequence that must have `expected` elements.
    pub(crate) fn length(&mut self, field: &str, expected: usize) -> Result<()> {
        let found = self.integer(field)?;
        if found == expected as u64 {
            return Ok(());
        }
        let (found, expected) = (format!("{found} elements"), format!("{expected} elements"));
        Err(RequestError::new(field, found, expected))
    }

    /// A Merkle proof of a tree with this shape.
    pub(crate) fn merkle_proof(&mut self, field: &str, shape: &TreeShape) -> Result<MerkleProof> {
        self.proof(shape).map_err(|e| e.within(field))
    }

    fn proof(&mut self, shape: &TreeShape) -> Result<MerkleProof> {
        let variant = u32::from_le_bytes(self.take("data")?) as usize;
        let expected = layout(shape);
        if variant != expected {
            let found = LAYOUTS
                .get(variant)
                .map_or(variant.to_string(), |l| l.to_string());
            return Err(RequestError::new("data", found, LAYOUTS[expected]));
        }
        let mut path = Path {
            positions: Vec::with_capacity(shape.levels()),
            siblings: Vec::with_capacity(shape.siblings()),
        };
        let (root, leaf);
        if expected == 0 {
            root = self.element("root")?;
            leaf = self.element("leaf")?;
            self.levels("path", shape.base_levels, shape.base_arity, &mut path)?;
        } else {
            self.levels("base_proof", shape.base_levels, shape.base_arity, &mut path)?;
            self.levels("sub_proof", 1, shape.sub_arity, &mut path)?;
            if expected == 2 {
                self.levels("top_proof", 1, shape.top_arity, &mut path)?;
            }
            root = self.element("root")?;
            leaf = self.element("leaf")?;
        }
        Ok(MerkleProof { root, leaf, path })
    }

    /// So many levels of a path, all of one arity.
    fn levels(&mut self, field: &str, levels: usize, arity: usize, path: &mut Path) -> Result<()> {
        self.length(field, levels)?;
        for level in 0..levels {
            self.level(arity, path)
                .map_err(|e| e.within(format!("[{level}]")).within(field))?;
        }
        Ok(())
    }

    fn level(&mut self, arity: usize, path: &mut Path) -> Result<()> {
        self.length("hashes", arity - 1)?;
        for i in 1..arity {
            let sibling = self
                .element("")
                .map_err(|e| e.within(format!("[{}]", i - 1)).within("hashes"))?;
            path.siblings.push(sibling);
        }
        match self.integer("index")? {
            position if position < arity as u64 => path.positions.push(position as u8),
            found => {
                let expected = format!("a position below {arity}");
                return Err(RequestError::new("index", found, expected));
            }
        }
        Ok(())
    }
}
