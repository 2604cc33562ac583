// The host's share of a multi-scalar multiplication.
#include "combine.h"

#include "../field/host_field.h"

#include <ec/jacobian_t.hpp>
#include <ec/xyzz_t.hpp>

#include <cstring>
#include <vector>

namespace cuzk {

template<class F> struct HostNode { xyzz_t<F> weighted, plain, scaled; };

template<class F> static xyzz_t<F> shifted(xyzz_t<F> p, uint32_t bits)
{
    while (bits--)
        p.add(xyzz_t<F>(p));
    return p;
}

template<class F> static void store(void* jacobian, const xyzz_t<F>& p)
{
    jacobian_t<F> out = p;
    memcpy(jacobian, (const void*)&out, sizeof out);
}

// Bucket (row, column) of tile t stands for the digit t * rows * columns + row * columns + column + 1.
template<class F> static void combine(void* jacobian, const CombineLayout& layout, const void* raw_nodes)
{
    std::vector<HostNode<F>> nodes(2 * layout.tiles);
    memcpy((void*)nodes.data(), raw_nodes, nodes.size() * sizeof(HostNode<F>));
    const HostNode<F>*rows = nodes.data(), *columns = rows + layout.tiles;
    xyzz_t<F> result;
    result.inf();
    uint32_t tile = layout.tiles;
    for (uint32_t w = layout.windows; w-- > 0;) {
        result = shifted(result, layout.bits[w]);
        tile -= layout.tiles_of_window[w];
        for (uint32_t t = 0; t < layout.tiles_of_window[w]; t++) {
            const HostNode<F>&row = rows[tile + t], &column = columns[tile + t];
            result.add(shifted(row.weighted, layout.side_bits));
            result.add(column.weighted);
            result.add(column.plain);
            xyzz_t<F> tile_size_sum = shifted(column.plain, 2 * layout.side_bits);
            for (uint32_t k = 0; k < t; k++)
                result.add(tile_size_sum);
        }
    }
    store(jacobian, result);
}

template<class F> static void sum(void* jacobian, const void* raw_node)
{
    HostNode<F> node;
    memcpy((void*)&node, raw_node, sizeof node);
    store(jacobian, node.plain);
}

void combine_g1(void* jacobian, const CombineLayout& layout, const void* nodes) { combine<HostFp>(jacobian, layout, nodes); }
void combine_g2(void* jacobian, const CombineLayout& layout, const void* nodes) { combine<HostFp2>(jacobian, layout, nodes); }
void node_sum_g1(void* jacobian, const void* node) { sum<HostFp>(jacobian, node); }
void node_sum_g2(void* jacobian, const void* node) { sum<HostFp2>(jacobian, node); }

}  // namespace cuzk
