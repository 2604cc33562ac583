//! Rows with their variables' names taken away: few in number, so each is judged once.

use std::collections::HashMap;

use blstrs::Scalar;
use ff::Field;

use crate::column::Column;

/// Known bits that a row may have.
pub(super) const MAX_KNOWN: usize = 6;
/// Bits that a remembered definition may be made of.
const MAX_INPUTS: usize = 3;

/// What the roots of a row, as polynomial in its one unknown variable, say of that variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may hold anything.
    Anything,
    /// It is 0 or 1.
    Bit,
    /// It is the bit of this table at the number that the known variables spell, the first the lowest.
    Defined(u64),
}

/// A bit computed from bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    bit: Column,
    inputs: [Column; MAX_INPUTS],
    num_inputs: usize,
    table: u64,
}

/// The shape of the row that is being looked at.
///
/// A key is a list of words: entries `coefficient << 8 | slot` with slot 0 for the constant,
/// 1 for the unknown and 2.. for the known variables in order of appearance; [`END`] behind each
/// matrix; and, once known variables are replaced, for each of them [`FREE`] and the number of a
/// free variable, or [`COMPUTED`], a table and the numbers of the free variables that it reads.
#[derive(Debug, Default)]
pub(super) struct Slots {
    key: Vec<u32>,
    known: Vec<Column>,
    free: Vec<Column>,
}

const END: u32 = u32::MAX;
const FREE: u32 = u32::MAX - 1;
const COMPUTED: u32 = u32::MAX - 2;

impl Slots {
    pub(super) fn clear(&mut self) {
        self.key.clear();
        self.known.clear();
        self.free.clear();
    }

    pub(super) fn key(&self) -> &[u32] {
        &self.key
    }

    pub(super) fn push_constant(&mut self, coefficient: u16) {
        self.key.push(u32::from(coefficient) << 8);
    }

    pub(super) fn push_unknown(&mut self, coefficient: u16) {
        self.key.push(u32::from(coefficient) << 8 | 1);
    }

    /// None when there are too many known variables.
    pub(super) fn push_known(&mut self, column: Column, coefficient: u16) -> Option<()> {
        let slot = number(&mut self.known, column, MAX_KNOWN)?;
        self.key.push(u32::from(coefficient) << 8 | (slot + 2));
        Some(())
    }

    pub(super) fn end_matrix(&mut self) {
        self.key.push(END);
    }

    /// Replaces known variables by their definitions; false when none has one, or too many
    /// variables would come of it.
    pub(super) fn substitute(&mut self, definitions: &[Option<Definition>]) -> bool {
        let mut replaced = false;
        for &bit in &self.known {
            let definition = definitions.iter().flatten().find(|d| d.bit == bit);
            let inputs = match definition {
                Some(definition) => {
                    replaced = true;
                    self.key.extend([COMPUTED, definition.table as u32]);
                    self.key.push(definition.num_inputs as u32);
                    &definition.inputs[..definition.num_inputs]
                }
                None => {
                    self.key.push(FREE);
                    std::slice::from_ref(&bit)
                }
            };
            for &input in inputs {
                let Some(number) = number(&mut self.free, input, MAX_KNOWN) else {
                    return false;
                };
                self.key.push(number);
            }
        }
        replaced
    }

    /// The definition that a table over this row's free variables amounts to.
    pub(super) fn definition(&self, bit: Column, table: u64) -> Option<Definition> {
        let variables = if self.free.is_empty() {
            &self.known
        } else {
            &self.free
        };
        let num_inputs = variables.len();
        let mut inputs = [bit; MAX_INPUTS];
        inputs.get_mut(..num_inputs)?.copy_from_slice(variables);
        Some(Definition {
            bit,
            inputs,
            num_inputs,
            table,
        })
    }
}

/// The place of `column` in `columns`, at the end if it is new; none when they are `limit` already.
fn number(columns: &mut Vec<Column>, column: Column, limit: usize) -> Option<u32> {
    let place = columns.iter().position(|&c| c == column);
    let place = place.unwrap_or(columns.len());
    if place == columns.len() {
        if place == limit {
            return None;
        }
        columns.push(column);
    }
    Some(place as u32)
}

/// Verdicts by shape.
pub(super) struct Shapes {
    dictionary: Vec<Scalar>,
    verdicts: HashMap<Box<[u32]>, Verdict>,
}

impl Shapes {
    pub(super) fn new(dictionary: &[Scalar]) -> Self {
        Self {
            dictionary: dictionary.to_vec(),
            verdicts: HashMap::new(),
        }
    }

    pub(super) fn verdict(&mut self, key: &[u32]) -> Verdict {
        if let Some(&verdict) = self.verdicts.get(key) {
            return verdict;
        }
        let verdict = Row::parse(key, &self.dictionary).judge();
        self.verdicts.insert(key.into(), verdict);
        verdict
    }
}

/// A shape taken apart.
struct Row {
    /// Slot and coefficient of each entry of A, B, C.
    matrices: [Vec<(usize, Scalar)>; 3],
    /// How each known variable comes about; its own number when it is free.
    known: Vec<Known>,
    num_free: usize,
}

enum Known {
    Free(usize),
    Computed { table: u64, inputs: Vec<usize> },
}

impl Row {
    fn parse(key: &[u32], dictionary: &[Scalar]) -> Self {
        let mut words = key.iter().copied();
        let matrices = [(); 3].map(|()| {
            let entries = words.by_ref().take_while(|&word| word != END);
            let entry = |word: u32| {
                let slot = (word & 0xff) as usize;
                (slot, dictionary[(word >> 8) as usize])
            };
            entries.map(entry).collect::<Vec<_>>()
        });
        let slots = matrices.iter().flatten().map(|&(slot, _)| slot);
        let num_known = slots.max().map_or(0, |slot| slot.saturating_sub(1));
        let mut known = Vec::new();
        let mut next = || words.next().map(|word| word as usize);
        while let Some(kind) = next() {
            let mut number = || next().expect("a key is complete");
            known.push(if kind == FREE as usize {
                Known::Free(number())
            } else {
                let (table, inputs) = (number() as u64, number());
                Known::Computed {
                    table,
                    inputs: (0..inputs).map(|_| number()).collect(),
                }
            });
        }
        if known.is_empty() {
            known = (0..num_known).map(Known::Free).collect();
        }
        let numbers = known.iter().flat_map(|known| match known {
            Known::Free(number) => std::slice::from_ref(number),
            Known::Computed { inputs, .. } => inputs,
        });
        let num_free = numbers.max().map_or(0, |number| number + 1);
        Self {
            matrices,
            known,
            num_free,
        }
    }

    fn judge(&self) -> Verdict {
        let mut defined = Some(0);
        for assignment in 0..1u64 << self.num_free {
            match self.roots(assignment) {
                Roots::Other => return Verdict::Anything,
                Roots::Both => defined = None,
                Roots::Zero | Roots::None => {}
                Roots::One => defined = defined.map(|table| table | 1 << assignment),
            }
        }
        defined.map_or(Verdict::Bit, Verdict::Defined)
    }

    /// The values that the unknown variable can have when the free ones spell `assignment`.
    fn roots(&self, assignment: u64) -> Roots {
        let free = |number: usize| assignment >> number & 1;
        let value = |known: &Known| match known {
            Known::Free(number) => free(*number),
            Known::Computed { table, inputs } => {
                let bits = inputs.iter().rev();
                let spelt = bits.fold(0, |spelt, &number| spelt << 1 | free(number));
                table >> spelt & 1
            }
        };
        let [a, b, c] = self.matrices.each_ref().map(|entries| {
            let mut line = [Scalar::ZERO; 2];
            for &(slot, coefficient) in entries {
                match slot {
                    0 => line[0] += coefficient,
                    1 => line[1] += coefficient,
                    _ if value(&self.known[slot - 2]) == 1 => line[0] += coefficient,
                    _ => {}
                }
            }
            line
        });
        Roots::of([
            a[0] * b[0] - c[0],
            a[0] * b[1] + a[1] * b[0] - c[1],
            a[1] * b[1],
        ])
    }
}

/// The roots of a polynomial, as far as they matter here.
enum Roots {
    None,
    Zero,
    One,
    Both,
    Other,
}

impl Roots {
    /// Of `p[0] + p[1] x + p[2] x²`. Other whenever some root is, or may be, neither 0 nor 1.
    fn of(p: [Scalar; 3]) -> Self {
        let is_zero = |x: Scalar| x.is_zero_vartime();
        let zero = is_zero(p[0]);
        let one = is_zero(p[0] + p[1] + p[2]);
        let double = match (zero, one) {
            (true, false) => is_zero(p[1]),
            (false, true) => is_zero(p[1] + p[2].double()),
            _ => false,
        };
        match (is_zero(p[2]), is_zero(p[1])) {
            (true, true) if !zero => Roots::None,
            (true, true) => Roots::Other,
            (true, false) | (false, _) if zero && one => Roots::Both,
            (true, false) if zero => Roots::Zero,
            (true, false) if one => Roots::One,
            (false, _) if double && zero => Roots::Zero,
            (false, _) if double => Roots::One,
            _ => Roots::Other,
        }
    }
}
