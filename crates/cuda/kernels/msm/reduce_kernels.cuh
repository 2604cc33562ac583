#pragma once
#include "reduce.cuh"

#include <utility>

namespace cuzk {

static const uint32_t kReduceThreads = 32;

template<class F> KERNEL(kReduceThreads, 1) sum_chunks(Node<F>* nodes, NodeInputs<F> inputs, uint32_t chunk_bits)
{
    typedef xyzz_t<F> point_t;
    const uint32_t per_array = inputs.width >> chunk_bits;
    const uint32_t i = (threadIdx.x + blockIdx.x * blockDim.x) / kLanes<F>;
    if (i >= (inputs.arrays + inputs.close_arrays) * per_array)
        return;
    point_t weighted, plain;
    weighted.inf();
    plain.inf();
    NO_UNROLL for (uint32_t k = 1u << chunk_bits; k-- > 0;) {
        weighted.add(point_t(plain));
        Place<uint4> p = inputs(i / per_array, (i % per_array << chunk_bits) + k);
        plain.add(typename point_t::affine_t(load_element<F>(p.x), load_element<F>(p.y)));
    }
    nodes[i].weighted = weighted;
    nodes[i].plain = plain;
    NO_UNROLL for (uint32_t k = 0; k < chunk_bits; k++)
        plain.add(point_t(plain));
    nodes[i].scaled = plain;
}

template<class F> KERNEL(kReduceThreads, 1) merge_nodes(Node<F>* out, const Node<F>* in, uint32_t count)
{
    typedef xyzz_t<F> point_t;
    const uint32_t i = (threadIdx.x + blockIdx.x * blockDim.x) / kLanes<F>;
    if (i >= count)
        return;
    const Node<F>&left = in[2 * i], &right = in[2 * i + 1];
    point_t sum = left.weighted, term = right.weighted;
    sum.add(term);
    term = right.scaled;
    sum.add(term);                              // the right run's indexes grow by its length, which is the left's
    out[i].weighted = sum;
    sum = left.plain;
    term = right.plain;
    sum.add(term);
    out[i].plain = sum;
    sum = left.scaled;
    term = right.scaled;
    sum.add(term);
    sum.add(point_t(sum));
    out[i].scaled = sum;
}

template<class F>
void reduce_arrays(Node<F>* out, const NodeInputs<F>& inputs, Node<F>* nodes, Node<F>* spare, cudaStream_t stream)
{
    const uint32_t arrays = inputs.arrays + inputs.close_arrays;
    uint32_t count = inputs.nodes();
    LAUNCH(sum_chunks<F>, ceiling(count * kLanes<F>, kReduceThreads), kReduceThreads, 0, stream, nodes, inputs,
           inputs.chunk_bits());
    for (; count > arrays; std::swap(nodes, spare)) {
        count /= 2;
        LAUNCH(merge_nodes<F>, ceiling(count * kLanes<F>, kReduceThreads), kReduceThreads, 0, stream, spare,
               (const Node<F>*)nodes, count);
    }
    CHECK(cudaMemcpyAsync(out, nodes, arrays * sizeof(Node<F>), cudaMemcpyDeviceToHost, stream));
}

}  // namespace cuzk
