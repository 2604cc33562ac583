//! How a query's bases meet a witness.

use std::ops::Range;
use std::sync::Arc;

use cuzk_r1cs::{BitVec, R1cs, WitnessLayout};

use crate::bases::BasesPart;
use crate::curve::Curve;
use crate::density::{Density, ones_workspace};
use crate::device::{Device, Region};
use crate::error::DeviceError;
use crate::memory_plan::QueryShape;
use crate::slices::{Slice, Words, cut};
use crate::sums::{IndexList, Pairing, msm_on, msm_workspace};

/// Which variables have a base: the inputs' bases come first, then those of the private variables.
///
/// The bases of bits are summed where the bit is one; only inputs and wide values meet a multiplication. In a dense
/// witness, that is all of them.
#[derive(Clone)]
pub(crate) struct QueryMap {
    bases: u32,
    wide: Arc<Pairing>,
    /// Private variables that have a base; none when the witness is dense.
    ones: Option<Arc<Density>>,
    /// What slices are cut by, until they are.
    on_host: OnHost,
    slices: Vec<Slice>,
    /// Dense variables before each slice's first word.
    ranks: Vec<u32>,
}

/// The base of each term, where it is not its own number, and the dense variables of each word.
#[derive(Clone, Default)]
struct OnHost {
    base_of: Option<Vec<u32>>,
    counts: Option<Vec<u32>>,
}

/// Of a circuit's variables, those with a base.
struct Selection<'a> {
    layout: &'a WitnessLayout,
    /// The inputs.
    inputs: Vec<u32>,
    /// Words of the private variables.
    aux: Vec<u64>,
}

impl QueryMap {
    /// H: every coefficient of the quotient but the last, which is zero. Scalar and base of a term have its number.
    pub(crate) fn h(circuit: &R1cs) -> Self {
        let bases = 1 << circuit.log_domain();
        Self {
            bases,
            wide: Arc::new(Pairing::straight(bases - 1)),
            ones: None,
            on_host: OnHost::default(),
            slices: Vec::new(),
            ranks: Vec::new(),
        }
    }

    /// L: every private variable.
    pub(crate) fn l(device: &Arc<Device>, circuit: &R1cs) -> Result<Self, DeviceError> {
        let aux = circuit.num_aux();
        let mut words = vec![u64::MAX; aux.div_ceil(64)];
        if let (Some(last), used @ 1..) = (words.last_mut(), aux % 64) {
            *last = (1 << used) - 1;
        }
        Selection {
            layout: circuit.layout(),
            inputs: Vec::new(),
            aux: words,
        }
        .map(device)
    }

    /// A: every input, and the private variables that occur.
    pub(crate) fn a(device: &Arc<Device>, circuit: &R1cs) -> Result<Self, DeviceError> {
        let inputs = (0..circuit.num_inputs() as u32).collect();
        let aux = circuit.densities().a_aux.words().to_vec();
        Selection {
            layout: circuit.layout(),
            inputs,
            aux,
        }
        .map(device)
    }

    /// B: the inputs and private variables that occur.
    pub(crate) fn b(device: &Arc<Device>, circuit: &R1cs) -> Result<Self, DeviceError> {
        let densities = circuit.densities();
        let inputs = BitVec::ones(&densities.b_inputs)
            .map(|i| i as u32)
            .collect();
        let aux = densities.b_aux.words().to_vec();
        Selection {
            layout: circuit.layout(),
            inputs,
            aux,
        }
        .map(device)
    }

    /// Its size.
    pub(crate) fn shape<C: Curve>(&self) -> QueryShape {
        let words = self.on_host.counts.as_ref().map_or(0, Vec::len);
        QueryShape {
            is_g2: C::IS_G2,
            bases: self.bases,
            wide: self.wide.count,
            words: words as u32,
        }
    }

    /// Fixes how many bases are summed at a time.
    pub(crate) fn cut(&mut self, most: u32) {
        let OnHost { base_of, counts } = std::mem::take(&mut self.on_host);
        let first_base = self.ones.as_ref().map_or(0, |ones| ones.first_base());
        let words = counts.as_ref().map(|counts| Words { first_base, counts });
        let terms = self.wide.count;
        self.slices = cut(self.bases, most, terms, base_of.as_deref(), words.as_ref());
        let ends = self
            .slices
            .iter()
            .map(|s| s.bases.start.saturating_sub(first_base));
        self.ranks = ends.collect();
    }

    /// Number of bases.
    pub(crate) fn num_bases(&self) -> u32 {
        self.bases
    }

    /// Number of slices.
    pub(crate) fn num_slices(&self) -> usize {
        self.slices.len()
    }

    /// The bases of a slice.
    pub(crate) fn bases_of(&self, slice: usize) -> &Range<u32> {
        &self.slices[slice].bases
    }

    /// Bytes of workspace that the sum over any of the slices needs.
    pub(crate) fn workspace<C: Curve>(&self, device: &Device) -> Result<u64, DeviceError> {
        let mut most = 0;
        for slice in &self.slices {
            let words = slice.words.len() as u32;
            let part = QueryShape {
                is_g2: C::IS_G2,
                bases: slice.bases.len() as u32,
                wide: slice.terms.len() as u32,
                words,
            };
            most = most.max(sum_workspace(device, &part)?);
        }
        Ok(most)
    }

    /// A slice of the witness times its bases, in `device`'s order of work. `values`: inputs and wide values, plain; `bits`:
    /// of all private variables.
    pub(crate) fn sum<C: Curve>(
        &self,
        device: &Device,
        slice: usize,
        bases: BasesPart<'_>,
        values: Region<'_>,
        bits: Region<'_>,
        workspace: Region<'_>,
    ) -> Result<C::Point, DeviceError> {
        let (part, rank) = (&self.slices[slice], self.ranks[slice]);
        let terms = part.terms.clone();
        let wide = msm_on::<C>(device, bases, values, &self.wide, terms, None, workspace)?;
        match &self.ones {
            Some(density) => {
                let ones = density.sum_ones_on::<C>(device, bases, part, rank, bits, workspace)?;
                Ok(wide + ones)
            }
            None => Ok(wide),
        }
    }
}

/// Bytes of workspace that a sum over as many bases needs.
///
/// # Errors
/// When the device fails.
pub fn sum_workspace(device: &Device, part: &QueryShape) -> Result<u64, DeviceError> {
    let ones = if part.words == 0 {
        0
    } else {
        ones_workspace(device, part.is_g2, part.bases, part.words)?
    };
    let wide = match (part.wide, part.is_g2) {
        (0, _) => 0,
        (count, false) => msm_workspace::<crate::curve::G1>(device, count, None)?,
        (count, true) => msm_workspace::<crate::curve::G2>(device, count, None)?,
    };
    Ok(ones.max(wide))
}

impl Selection<'_> {
    fn map(self, device: &Arc<Device>) -> Result<QueryMap, DeviceError> {
        let first_base = self.inputs.len() as u32;
        let (scalar_of, base_of) = self.wide_terms();
        // Bases in order need no list.
        let in_order = base_of
            .iter()
            .enumerate()
            .all(|(i, &base)| base == i as u32);
        let counts: Vec<u32> = self.aux.iter().map(|word| word.count_ones()).collect();
        let bases = first_base + counts.iter().sum::<u32>();
        let list = |indices: &[u32]| IndexList::new(device, indices).map(Some);
        let wide = Pairing {
            count: scalar_of.len() as u32,
            scalar_of: list(&scalar_of)?,
            base_of: if in_order { None } else { list(&base_of)? },
        };
        let values = self.layout.num_inputs() + self.layout.num_wide();
        wide.check(values as u64, bases);
        let packed = !self.layout.is_dense();
        let ones = packed
            .then(|| Density::new(device, &self.aux, first_base))
            .transpose()?;
        let on_host = OnHost {
            base_of: (!in_order).then_some(base_of),
            counts: packed.then_some(counts),
        };
        Ok(QueryMap {
            bases,
            wide: Arc::new(wide),
            ones: ones.map(Arc::new),
            on_host,
            slices: Vec::new(),
            ranks: Vec::new(),
        })
    }

    /// For each input and wide variable with a base: its place among the values, and its base.
    fn wide_terms(&self) -> (Vec<u32>, Vec<u32>) {
        let mut scalar_of = self.inputs.clone();
        let mut base_of: Vec<u32> = (0..self.inputs.len() as u32).collect();
        let mut base = self.inputs.len() as u32;
        let mut value = self.layout.num_inputs() as u32;
        for (i, &dense) in self.aux.iter().enumerate() {
            let wide = match self.layout.mask_words() {
                Some(mask) => mask[i],
                None => u64::MAX,
            };
            let mut both = dense & wide;
            while both != 0 {
                let below = (both & both.wrapping_neg()) - 1;
                scalar_of.push(value + (wide & below).count_ones());
                base_of.push(base + (dense & below).count_ones());
                both &= both - 1;
            }
            base += dense.count_ones();
            value += wide.count_ones();
        }
        (scalar_of, base_of)
    }
}
