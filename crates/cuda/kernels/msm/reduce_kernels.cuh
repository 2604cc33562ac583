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

// Three workers for each node that is made, one for each of its points: an addition takes long, and there are few.
template<class F> KERNEL(kReduceThreads, 1) merge_nodes(Node<F>* out, const Node<F>* in, uint32_t count)
{
    typedef xyzz_t<F> point_t;
    const uint32_t worker = (threadIdx.x + blockIdx.x * blockDim.x) / kLanes<F>;
    if (worker >= 3 * count)
        return;
    const uint32_t i = worker % count, part = worker / count;
    const Node<F>&left = in[2 * i], &right = in[2 * i + 1];
    point_t sum = part == 0 ? left.weighted : part == 1 ? left.plain : left.scaled;
    point_t term = part == 0 ? right.weighted : part == 1 ? right.plain : right.scaled;
    sum.add(term);
    if (part == 0) {
        term = right.scaled;                    // the right run's indexes grow by its length, which is the left's
        sum.add(term);
        out[i].weighted = sum;
    } else if (part == 1) {
        out[i].plain = sum;
    } else {
        term = sum;
        sum.add(term);
        out[i].scaled = sum;
    }
}

// Node fields are X, Y, ZZZ, ZZ; x = X/ZZ and y = Y/ZZZ, so with Z = ZZ the point is (X*ZZ, Y*ZZZ, ZZ).
template<class F> KERNEL(kReduceThreads, 1) to_jacobian(uint4* out, const Node<F>* rows, const Node<F>* columns, uint32_t tiles)
{
    const uint32_t i = (threadIdx.x + blockIdx.x * blockDim.x) / kLanes<F>;
    if (i >= tiles * TilePoints<F>::kPoints)
        return;
    const uint32_t tile = i / TilePoints<F>::kPoints, which = i % TilePoints<F>::kPoints;
    const Node<F>* node = which == 0 ? rows + tile : columns + tile;
    const uint4* point = (const uint4*)(which == 2 ? &node->plain : &node->weighted);
    const F zz = load_element<F>(point + 3 * kWords<F>);
    out += (size_t)i * TilePoints<F>::kPointWords;
    store_element<F>(out, load_element<F>(point) * zz);
    store_element<F>(out + kWords<F>, load_element<F>(point + kWords<F>) * load_element<F>(point + 2 * kWords<F>));
    store_element<F>(out + 2 * kWords<F>, zz);
}

template<class F> KERNEL(kReduceThreads, 1) affine_to_jacobian(uint4* out, Place<uint4> point)
{
    const F x = load_element<F>(point.x), y = load_element<F>(point.y);
    F z = F::one();
    if (x.is_zero() && y.is_zero())
        z.zero();
    store_element<F>(out, x);
    store_element<F>(out + kWords<F>, y);
    store_element<F>(out + 2 * kWords<F>, z);
}

template<class F>
Node<F>* reduce_arrays(const NodeInputs<F>& inputs, Node<F>* nodes, Node<F>* spare, cudaStream_t stream)
{
    const uint32_t arrays = inputs.arrays + inputs.close_arrays;
    uint32_t count = inputs.nodes();
    LAUNCH(sum_chunks<F>, ceiling(count * kLanes<F>, kReduceThreads), kReduceThreads, 0, stream, nodes, inputs,
           inputs.chunk_bits());
    for (; count > arrays; std::swap(nodes, spare)) {
        count /= 2;
        LAUNCH(merge_nodes<F>, ceiling(3 * count * kLanes<F>, kReduceThreads), kReduceThreads, 0, stream, spare,
               (const Node<F>*)nodes, count);
    }
    return nodes;
}

template<class F>
void make_tile_points(uint4* out, const Node<F>* rows, const Node<F>* columns, uint32_t tiles, cudaStream_t stream)
{
    const uint32_t threads = tiles * TilePoints<F>::kPoints * kLanes<F>;
    LAUNCH(to_jacobian<F>, ceiling(threads, kReduceThreads), kReduceThreads, 0, stream, out, rows, columns, tiles);
}

template<class F> void make_jacobian(uint4* out, Place<uint4> point, cudaStream_t stream)
{   LAUNCH(affine_to_jacobian<F>, 1, kLanes<F>, 0, stream, out, point);   }

#define INSTANTIATE_REDUCE(F) \
    template void make_jacobian<F>(uint4*, Place<uint4>, cudaStream_t); \
    template Node<F>* reduce_arrays(const NodeInputs<F>&, Node<F>*, Node<F>*, cudaStream_t); \
    template void make_tile_points(uint4*, const Node<F>*, const Node<F>*, uint32_t, cudaStream_t);

}  // namespace cuzk
