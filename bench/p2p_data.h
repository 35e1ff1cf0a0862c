// What p2p sends, and what it makes of what arrives.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace thinwire::bench {

// `count` values: those of the file at `path` over and over, or, where that is empty, a pattern.
// The same on every rank. Empty where the file cannot be read or holds no value.
std::vector<float> make_data(const std::string& path, const std::string& pattern,
                             std::size_t count);

// Judges all arrivals of one message against what was sent.
class Arrivals {
 public:
  explicit Arrivals(std::span<const float> sent) : sent_(sent), received_(sent.size()) {}

  // Where to receive. Every value is NaN before, so that one which nobody wrote shows.
  float* prepare();

  // Looks at the message that arrived since.
  void check();

  // The largest difference of a value; NaN and infinity count as `broken`.
  double max_error() const { return max_error_; }
  // Whether each arrival had the bits that were sent.
  bool identical() const { return identical_; }
  // Whether a value was not finite though it was sent so, or two arrivals differed.
  bool broken() const { return broken_; }

 private:
  void compare_values();

  std::span<const float> sent_;
  std::vector<float> received_;
  std::vector<float> first_;
  double max_error_ = 0;
  bool identical_ = true;
  bool broken_ = false;
};

}  // namespace thinwire::bench
