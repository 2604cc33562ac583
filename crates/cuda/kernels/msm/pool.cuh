// Points by reference. A list entry names a point by its index in the pool: the input points, then the sums made so
// far. Bit 31 says to use the negative. An empty bucket is kNoPoint.
#pragma once
#include "../field/coordinate.cuh"
#include "plan.cuh"

namespace cuzk {

// Where a point lies. The inputs are x, y, x, y, ...; our own sums are all x, then all y: the forward pass of an
// addition reads only x, and here it does not drag the y along.
template<class Word> struct Place { Word *x, *y; };

template<class F> struct PointArray {
    uint4 *x, *y;

    static size_t words(size_t capacity) { return 2 * kWords<F> * capacity; }
    static PointArray in(uint4* memory, size_t capacity) { return {memory, memory + kWords<F> * capacity}; }
    BOTH Place<uint4> operator[](size_t i) const { return {x + kWords<F> * i, y + kWords<F> * i}; }
};

template<class F> struct PointPool {
    const uint4* inputs;
    PointArray<F> sums;
    const uint4* infinity;
    uint32_t inputs_count;

    DEVICE Place<const uint4> operator[](uint32_t ref) const
    {
        uint32_t index = ref & ~kNegative;
        if (index >= inputs_count && index != kNoPoint) {
            Place<uint4> sum = sums[index - inputs_count];
            return {sum.x, sum.y};
        }
        const uint4* point = index == kNoPoint ? infinity : inputs + (size_t)(2 * kWords<F>) * index;
        return {point, point + kWords<F>};
    }
};

DEVICE Place<const uint4> constant(Place<uint4> p) { return {p.x, p.y}; }

}  // namespace cuzk
