// From nodes to one point, on the host. Points come out Jacobian: X, Y, Z of 48 (G1) or 96 bytes (G2) each, Montgomery
// form; Z = 0 is infinity.
#pragma once
#include <cstdint>

namespace cuzk {

struct CombineLayout {
    uint32_t windows, side_bits, tiles;
    const uint32_t *bits, *tiles_of_window;     // of each window
};

// `nodes`: the row sums of every tile, then the column sums.
void combine_g1(void* jacobian, const CombineLayout& layout, const void* nodes);
void combine_g2(void* jacobian, const CombineLayout& layout, const void* nodes);
void node_sum_g1(void* jacobian, const void* node);
void node_sum_g2(void* jacobian, const void* node);

}  // namespace cuzk
