#pragma once
#include "../platform.cuh"

namespace cuzk {

static const uint32_t kAddThreads = 128;        // of a block of batch_affine_add

// How the pairs of a launch are cut into tiles, each of some pairs per worker of a block (a worker: the threads that
// hold an element). Blocks take tile after tile. In the first tiles, the ramp, the sizes grow in steps, so that the blocks
// of a multiprocessor get out of step: the forward pass of an addition is bound by memory, the backward pass by
// arithmetic, and both should go on all the time. (Warps out of step within a block would only compete for the
// instruction cache.) The last tiles are small, so that all blocks end together.
struct Tiling {
    uint32_t workers;                           // of a block
    uint32_t steps, tiles_per_step, unit;       // the ramp: unit, 2 * unit, ... pairs per worker
    uint32_t large_tiles, large, small;         // the rest; pairs per worker

    BOTH uint32_t ramp_pairs() const            // per worker, of all its tiles
    {   return tiles_per_step * unit * (steps * (steps + 1) / 2);   }
    DEVICE void locate(uint32_t tile, uint32_t& first_pair, uint32_t& per_worker) const
    {
        uint32_t step = tile / tiles_per_step, before;
        if (step < steps) {
            per_worker = unit * (step + 1);
            before = tiles_per_step * unit * (step * (step + 1) / 2) + (tile - step * tiles_per_step) * per_worker;
        } else {
            tile -= steps * tiles_per_step;
            bool is_large = tile < large_tiles;
            per_worker = is_large ? large : small;
            before = ramp_pairs() + (is_large ? tile * large : large_tiles * large + (tile - large_tiles) * small);
        }
        first_pair = workers * before;
    }
};

}  // namespace cuzk
