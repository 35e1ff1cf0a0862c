// Sums of doubles without any rounding.
#pragma once

#include <cmath>
#include <vector>

namespace thinwire::collective {

// An unevaluated sum of doubles that do not overlap, from the least on. Exact while no sum of two
// overflows; sums of doubles do not underflow.
class ExactSum {
 public:
  void add(double value) {
    std::size_t kept = 0;
    for (const double part : parts_) {
      const double sum = value + part;
      const double back = sum - value;
      const double rest = (value - (sum - back)) + (part - back);
      if (rest != 0) parts_[kept++] = rest;
      value = sum;
    }
    parts_.resize(kept);
    if (value != 0) parts_.push_back(value);
  }

  void join(const ExactSum& other) {
    for (const double part : std::vector<double>(other.parts_)) add(part);
  }

  // The sign of the exact value: -1, 0 or 1.
  int sign() const {
    if (parts_.empty()) return 0;
    return parts_.back() < 0 ? -1 : 1;
  }

 private:
  std::vector<double> parts_;
};

// Whether `sum` is within `bound` of `value`, exactly.
inline bool is_within(ExactSum sum, double value, double bound) {
  sum.add(-value);
  ExactSum above = sum;
  above.add(bound);
  sum.add(-bound);
  return above.sign() >= 0 && sum.sign() <= 0;
}

}  // namespace thinwire::collective
