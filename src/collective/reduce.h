// Reductions of arrays in host memory, and what a plan needs to know of their values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "plan/operation.h"

namespace thinwire::collective {

using plan::Reduction;

// into[i] = into[i] (+) from[i] for `count` elements of a float type, at any alignment. The arrays
// may be one and the same, else they must not overlap. Never blocks, never allocates.
//
// The result does not depend on which operand is which, so ranks that combine the same two values
// hold the same bits:
//   sum, product       one rounding; 16-bit types in fp32, then one more. A NaN is the canonical
//                      one, as where codecs add what they decode.
//   minimum, maximum   bits of one operand. NaN, the canonical one, if either is NaN; -0 is less
//                      than +0. An MPI's own (x < y ? x : y) lets the operands' order decide both.
void combine(Reduction reduction, Dtype dtype, std::uint64_t count, std::byte* into,
             const std::byte* from);

// Properties of an array's finite values. Without any, least > most and largest is 0.
struct Statistics {
  double least = 0;
  double most = 0;
  double largest = 0;      // in magnitude
  bool all_finite = true;  // no NaN, no infinity

  // most - least; 0 without finite values, the largest double if it overflows.
  double range() const;
};

// One pass over `count` elements of a float type, at any alignment.
Statistics statistics(Dtype dtype, std::uint64_t count, const std::byte* values);

// The largest |a[i] - b[i]|, rounded to a double. Equal infinities and any two NaN differ by 0; a
// NaN or an infinity differs from anything else by infinity, and so do bytes, which are no numbers.
double largest_difference(Dtype dtype, std::uint64_t count, const std::byte* a, const std::byte* b);

}  // namespace thinwire::collective
