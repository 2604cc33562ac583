//! How a query's bases meet a witness.

use std::sync::Arc;

use cuzk_r1cs::{BitVec, R1cs, WitnessLayout};

use crate::bases::Bases;
use crate::curve::Curve;
use crate::density::Density;
use crate::device::{Device, Region};
use crate::error::DeviceError;
use crate::sums::{IndexList, Pairing, msm_on, msm_workspace};

/// Which variables have a base: the inputs' bases come first, then those of the private variables.
///
/// The bases of bits are summed where the bit is one; only inputs and wide values meet a multiplication. In a dense
/// witness, that is all of them.
pub(crate) struct QueryMap {
    wide: Pairing,
    /// Private variables that have a base; none when the witness is dense.
    ones: Option<Density>,
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

    /// Bytes of workspace that [`QueryMap::sum`] needs.
    pub(crate) fn workspace<C: Curve>(&self, device: &Device) -> Result<u64, DeviceError> {
        let ones = self.ones.as_ref().map_or(Ok(0), Density::workspace::<C>)?;
        let wide = if self.wide.count == 0 {
            0
        } else {
            msm_workspace::<C>(device, self.wide.count, None)?
        };
        Ok(ones.max(wide))
    }

    /// The witness times the bases, in `device`'s order of work. `values`: inputs and wide values, plain; `bits`: of all
    /// private variables.
    pub(crate) fn sum<C: Curve>(
        &self,
        device: &Device,
        bases: &Bases<C>,
        values: Region<'_>,
        bits: Region<'_>,
        workspace: Region<'_>,
    ) -> Result<C::Point, DeviceError> {
        let wide = msm_on(device, bases, values, &self.wide, None, workspace)?;
        match &self.ones {
            Some(density) => Ok(wide + density.sum_ones_on(device, bases, bits, workspace)?),
            None => Ok(wide),
        }
    }
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
        let list = |indices: &[u32]| IndexList::new(device, indices).map(Some);
        let wide = Pairing {
            count: scalar_of.len() as u32,
            scalar_of: list(&scalar_of)?,
            base_of: if in_order { None } else { list(&base_of)? },
        };
        let packed = !self.layout.is_dense();
        let ones = packed
            .then(|| Density::new(device, &self.aux, first_base))
            .transpose()?;
        Ok(QueryMap { wide, ones })
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
