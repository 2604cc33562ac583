//! A compiled circuit on a device: matrices, coefficients, and where the witness's bits go.

use std::sync::Arc;

use cuzk_r1cs::{Csr, Matrix, R1cs, Segment, Witness, WitnessLayout};

use crate::device::{Device, DeviceMemory, Region};
use crate::error::DeviceError;
use crate::ffi::{RawDictionary, RawRows, RawWitness, SHORT_ROW};
use crate::quotient::ELEMENT;

/// What evaluating A·z and B·z needs, resident.
pub(crate) struct DeviceCircuit {
    device: Arc<Device>,
    dictionary: Dictionary,
    segments: Vec<DeviceSegment>,
    packed: Option<Packed>,
    num_inputs: usize,
    num_rows: usize,
}

/// The coefficients, each in Montgomery form to some power: x, x·R, x·R².
struct Dictionary {
    plain: DeviceMemory,
    montgomery: DeviceMemory,
    twice: DeviceMemory,
}

/// Number of one, and of minus one, in every circuit's dictionary.
const ONE: u32 = 0;
const MINUS_ONE: u32 = 1;
/// A number that no coefficient has.
const NONE: u32 = u32::MAX;

struct DeviceSegment {
    a: DeviceRows,
    b: DeviceRows,
    links: DeviceMemory,
    rows: u32,
    copies: u32,
    aux_stride: u32,
    num_links: u32,
    first_row: u32,
}

struct DeviceRows {
    row_ptr: DeviceMemory,
    columns: DeviceMemory,
    coefficients: DeviceMemory,
    /// Rows that are worked on by more than one thread.
    long_rows: DeviceMemory,
    num_long: u32,
}

/// Of a packed witness: for every 64 variables their bits and the mask of wide ones, side by side.
struct Packed {
    words: DeviceMemory,
    /// Wide variables before each word.
    ranks: DeviceMemory,
    num_words: usize,
}

impl DeviceCircuit {
    pub(crate) fn new(device: &Arc<Device>, circuit: &R1cs) -> Result<Self, DeviceError> {
        let mut first_row = 0;
        let mut segments = Vec::new();
        for segment in circuit.segments() {
            segments.push(DeviceSegment::new(device, segment, first_row)?);
            first_row += segment.rows() * segment.copies();
        }
        Ok(Self {
            device: device.clone(),
            dictionary: Dictionary::new(device, circuit)?,
            segments,
            packed: Packed::new(device, circuit.layout())?,
            num_inputs: circuit.num_inputs(),
            num_rows: circuit.num_rows(),
        })
    }

    /// Bytes of scratch that the bits are uploaded to.
    pub(crate) fn bits_bytes(&self) -> u64 {
        self.packed
            .as_ref()
            .map_or(0, |packed| 8 * packed.num_words as u64)
    }

    /// Brings a witness to the device: its inputs and wide values to `values`, plain; its bits to `bits`.
    pub(crate) fn upload(
        &self,
        witness: &Witness,
        values: Region<'_>,
        bits: Region<'_>,
    ) -> Result<(), DeviceError> {
        let inputs = ELEMENT * self.num_inputs as u64;
        values.part(0, inputs).upload(witness.inputs())?;
        values
            .part(inputs, values.bytes() - inputs)
            .upload(witness.wide())?;
        // SAFETY: `values` holds as many elements.
        self.device.call(0, |api, device, error| unsafe {
            (api.make_plain)(device, values.address(), values.bytes() / ELEMENT, error)
        })?;
        let Some(packed) = &self.packed else {
            return Ok(());
        };
        bits.upload(witness.bits())?;
        // SAFETY: both hold a word for each of `num_words`.
        self.device.call(0, |api, device, error| unsafe {
            let words = packed.words.all().address();
            (api.place_bits)(
                device,
                words,
                bits.address().cast_const().cast(),
                packed.num_words as u32,
                error,
            )
        })
    }

    /// A·z as plain values, or B·z in Montgomery form, with zeros up to the domain's size: what the quotient takes.
    ///
    /// `values`: as `upload` left them.
    pub(crate) fn evaluate(
        &self,
        matrix: Matrix,
        values: Region<'_>,
        out: Region<'_>,
    ) -> Result<(), DeviceError> {
        let (factors, terms, one, minus_one) = match matrix {
            Matrix::A => (
                &self.dictionary.montgomery,
                &self.dictionary.plain,
                ONE,
                MINUS_ONE,
            ),
            _ => (
                &self.dictionary.twice,
                &self.dictionary.montgomery,
                NONE,
                NONE,
            ),
        };
        let dictionary = RawDictionary {
            factors: factors.all().address(),
            terms: terms.all().address(),
            one,
            minus_one,
        };
        let packed = self.packed.as_ref();
        let address = |memory: Option<&DeviceMemory>| {
            memory.map_or(std::ptr::null_mut(), |m| m.all().address())
        };
        let witness = RawWitness {
            values: values.address(),
            words: address(packed.map(|p| &p.words)),
            ranks: address(packed.map(|p| &p.ranks)).cast(),
            num_inputs: self.num_inputs as u32,
        };
        for segment in &self.segments {
            let rows = segment.raw(matrix);
            // SAFETY: the circuit's columns name variables that it has, and `out` has all its rows.
            self.device.call(0, |api, device, error| unsafe {
                (api.evaluate)(
                    device,
                    out.address(),
                    &raw const rows,
                    &raw const dictionary,
                    &raw const witness,
                    error,
                )
            })?;
        }
        let (inputs, rows) = (
            ELEMENT * self.num_inputs as u64,
            ELEMENT * self.num_rows as u64,
        );
        let appended = out.part(rows - inputs, inputs);
        match matrix {
            Matrix::A => appended.copy_from(values.part(0, inputs))?,
            _ => appended.fill(0)?,
        }
        out.part(rows, out.bytes() - rows).fill(0)
    }
}

impl Dictionary {
    fn new(device: &Arc<Device>, circuit: &R1cs) -> Result<Self, DeviceError> {
        let montgomery = device.allocate_copy(circuit.dictionary())?;
        let plain = device.allocate(montgomery.bytes())?;
        let twice = device.allocate(montgomery.bytes())?;
        // SAFETY: three arrays of the dictionary's size.
        device.call(0, |api, handle, error| unsafe {
            let [plain, twice, montgomery] =
                [&plain, &twice, &montgomery].map(|m| m.all().address());
            (api.make_dictionary)(
                handle,
                plain,
                twice,
                montgomery,
                circuit.dictionary().len() as u32,
                error,
            )
        })?;
        Ok(Self {
            plain,
            montgomery,
            twice,
        })
    }
}

impl DeviceSegment {
    fn new(device: &Arc<Device>, segment: &Segment, first_row: usize) -> Result<Self, DeviceError> {
        let number = |what: &str, value: usize| {
            u32::try_from(value)
                .map_err(|_| DeviceError::Unsupported(format!("{value} {what} in a circuit")))
        };
        Ok(Self {
            a: DeviceRows::new(device, segment.matrix(Matrix::A))?,
            b: DeviceRows::new(device, segment.matrix(Matrix::B))?,
            links: device.allocate_copy(segment.links())?,
            rows: number("rows", segment.rows())?,
            copies: number("copies", segment.copies())?,
            aux_stride: number("variables", segment.aux_stride())?,
            num_links: number("links", segment.num_links())?,
            first_row: number("rows", first_row)?,
        })
    }

    fn raw(&self, matrix: Matrix) -> RawRows {
        let rows = if matrix == Matrix::A {
            &self.a
        } else {
            &self.b
        };
        RawRows {
            row_ptr: rows.row_ptr.all().address().cast(),
            columns: rows.columns.all().address().cast(),
            coefficients: rows.coefficients.all().address().cast(),
            links: self.links.all().address().cast(),
            long_rows: rows.long_rows.all().address().cast(),
            num_long: rows.num_long,
            rows: self.rows,
            copies: self.copies,
            aux_stride: self.aux_stride,
            num_links: self.num_links,
            first_row: self.first_row,
        }
    }
}

impl DeviceRows {
    fn new(device: &Arc<Device>, csr: &Csr) -> Result<Self, DeviceError> {
        let ends = csr.row_ptr().windows(2).zip(0u32..);
        let long_rows: Vec<u32> = ends
            .filter(|(ends, _)| ends[1] - ends[0] > SHORT_ROW)
            .map(|(_, row)| row)
            .collect();
        Ok(Self {
            num_long: long_rows.len() as u32,
            long_rows: device.allocate_copy(&long_rows)?,
            row_ptr: device.allocate_copy(csr.row_ptr())?,
            columns: device.allocate_copy(csr.columns())?,
            coefficients: device.allocate_copy(csr.coefficients())?,
        })
    }
}

impl Packed {
    fn new(device: &Arc<Device>, layout: &WitnessLayout) -> Result<Option<Self>, DeviceError> {
        let Some(mask) = layout.mask_words() else {
            return Ok(None);
        };
        let mut before = 0;
        let ranks: Vec<u32> = mask
            .iter()
            .map(|word| {
                let rank = before;
                before += word.count_ones();
                rank
            })
            .collect();
        let words: Vec<[u64; 2]> = mask.iter().map(|&word| [0, word]).collect();
        Ok(Some(Self {
            words: device.allocate_copy(&words)?,
            ranks: device.allocate_copy(&ranks)?,
            num_words: mask.len(),
        }))
    }
}
