#include "reduce_kernels.cuh"

namespace cuzk {
template void reduce_arrays(Node<Fp2>*, const NodeInputs<Fp2>&, Node<Fp2>*, Node<Fp2>*, cudaStream_t);
}
