// Judges what a collective left in this rank's receive buffer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/data.h"

namespace thinwire::bench {

// The difference that is allowed: none, if `lossless`; up to `bound`, if that is stated; any finite
// value for a finite one otherwise. Sums differ by rounding besides.
struct Tolerance {
  bool lossless = true;
  double bound = 0;
};

struct Judgement {
  std::int64_t wrong = 0;  // elements
  double max_error = 0;    // of finite values
  // Sums of squares of what is expected and of the errors, over finite values that differ.
  double energy = 0, error_energy = 0;
  std::uint64_t hash = 0;  // of all bits
};

std::uint64_t hash_of(std::span<const char> bytes);

// One operation at one size on this rank.
class Check {
 public:
  Check(const Data& data, tw_operation operation, tw_dtype dtype, const Group& group,
        std::int64_t count);
  // Checks data movement that leaves these bytes.
  Check(std::vector<char> expected, tw_dtype dtype);

  Judgement judge(std::span<const char> received, const Tolerance& tolerance) const;

 private:
  void judge_value(double expected, double value, double allowed, Judgement* judgement) const;
  void judge_moved(std::span<const char> received, const Tolerance& tolerance,
                   Judgement* judgement) const;
  void judge_sums(std::span<const char> received, const Tolerance& tolerance,
                  Judgement* judgement) const;

  tw_dtype dtype_;
  int ranks_;
  std::vector<char> moved_;      // expected of data movement
  std::vector<Data::Sum> sums_;  // expected of a reduction
};

}  // namespace thinwire::bench
