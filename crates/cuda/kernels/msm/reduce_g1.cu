#include "reduce_kernels.cuh"

namespace cuzk {
template void reduce_arrays(Node<Fp>*, const NodeInputs<Fp>&, Node<Fp>*, Node<Fp>*, cudaStream_t);
}
