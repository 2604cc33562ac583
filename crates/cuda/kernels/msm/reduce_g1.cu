#include "reduce_kernels.cuh"

namespace cuzk {
INSTANTIATE_REDUCE(Fp)
}
