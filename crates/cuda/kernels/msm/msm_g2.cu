#include "msm_body.cuh"

namespace cuzk {
INSTANTIATE_MSM(Fp2)
}
