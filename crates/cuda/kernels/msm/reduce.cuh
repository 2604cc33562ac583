// The last few thousand points of a sum, in XYZZ coordinates.
//
// A node stands for a run of points P_0..P_(len-1) and holds sum k*P_k, sum P_k and len * sum P_k; two neighbours merge
// with four additions.
#pragma once
#include "pool.cuh"

namespace cuzk {

template<class F> struct Node {
    typename xyzz_t<F>::mem_t weighted, plain, scaled;
};

// Arrays of points: some, `spacing` apart in steps of `stride`, then as many that lie close together.
template<class F> struct NodeInputs {
    PointArray<F> points;
    uint32_t width;                             // of each array, a power of two
    uint32_t arrays, stride, spacing;
    uint32_t close_arrays, close_stride;
    size_t first_close;

    DEVICE Place<uint4> operator()(uint32_t array, uint32_t k) const
    {
        return array < arrays ? points[(size_t)array * stride + (size_t)k * spacing]
                              : points[first_close + (size_t)(array - arrays) * close_stride + k];
    }
    uint32_t chunk_bits() const { return width >= 8 ? 3 : width >= 4 ? 2 : width >= 2 ? 1 : 0; }
    // Nodes that reduce_arrays needs space for, in each of two arrays.
    uint32_t nodes() const { return (arrays + close_arrays) * (width >> chunk_bits()); }
};

// A node for each array. Returns which of the two arrays holds them.
template<class F> Node<F>* reduce_arrays(const NodeInputs<F>& inputs, Node<F>* nodes, Node<F>* spare, cudaStream_t stream);

// What the host needs of a tile: sum k * row k, sum k * column k, and the sum of all. In Jacobian coordinates, of kWords
// words each; Z = 0 is infinity.
template<class F> struct TilePoints {
    static const uint32_t kPoints = 3, kPointWords = 3 * kWords<F>;
    static size_t bytes(uint32_t tiles) { return (size_t)tiles * kPoints * kPointWords * sizeof(uint4); }
};
// One affine point, likewise.
template<class F> void make_jacobian(uint4* out, Place<uint4> point, cudaStream_t stream);
template<class F> void make_tile_points(uint4* out, const Node<F>* rows, const Node<F>* columns, uint32_t tiles, cudaStream_t stream);

}  // namespace cuzk
