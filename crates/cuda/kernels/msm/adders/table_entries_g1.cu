#include "../adder_launch.cuh"

namespace cuzk {
INSTANTIATE_ADDER(Fp, TableEntries)
}
