// How a bound of a reduction's result is divided among the codings that reach it, so that it holds
// whatever the data. docs/concepts/error-bounds.md has the mathematics. Pure.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "codec/spec.h"
#include "plan/operation.h"
#include "plan/plan.h"

namespace thinwire::collective {

struct BudgetFacts {
  codec::ResultBound bound;
  const codec::Codec* codec = nullptr;  // has `with_bound`
  Dtype dtype = Dtype::kF32;
  plan::Reduction reduction = plan::Reduction::kSum;
  std::uint64_t codings = 0;  // most that add up on one value: Row::codings
  int ranks = 1;
  int additions = 0;    // most that follow one another: Row::additions; 0: ranks - 1
  int coded_ranks = 1;  // whose values are coded: all, or one a node if the others add raw

  // The schedule may be given to quantise_own(). Direct Allreduce and Reduce lose nothing by it,
  // nor does recursive doubling; Reduce-scatter would have one coding more.
  bool may_quantise_own = false;

  // A value that is coded again was multiplied since it was coded first.
  bool leaves_lattice = false;

  // Values are multiplied before they are added, by a factor that is rounded to their type: the
  // bound, the magnitudes and the ranges are of the sum without it. 1: they are not.
  double factor = 1;

  // Sums over the ranks, not below the exact ones and above them by two roundings an addition at
  // most: of the largest finite magnitude that a rank contributes, and of the range of its finite
  // values.
  double magnitudes = 0;
  double ranges = 0;
};

struct Budget {
  plan::Reason reason = plan::Reason::kCompress;  // kBoundTooSmall, kOperation: nothing is coded
  double result = 0;                              // what the result is bounded by
  double coding = 0;                              // what each coding is bounded by
  std::uint64_t parameter = 0;                    // the codec's, for that bound

  // Sums of values on the codec's lattice stay on it. With quantise_own() the result does not
  // depend on the order of the additions, values aside that a codec had to store as they are.
  bool on_lattice = false;
  bool quantises_own = false;  // the bound is for a schedule that went through quantise_own()
};

// The same on all ranks if the facts are.
Budget divide(const BudgetFacts& facts);

}  // namespace thinwire::collective
