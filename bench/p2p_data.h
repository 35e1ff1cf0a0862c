// Data that p2p sends, and what it makes of what arrives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "p2p_memory.h"

namespace thinwire::bench {

// `count` values: those of the file at `path` over and over, or, if that is empty, a pattern.
// The same on every rank. Empty if the file cannot be read or holds no value.
std::vector<float> make_data(const std::string& path, const std::string& pattern,
                             std::size_t count);

// Judges all arrivals of one message against what was sent.
class Arrivals {
 public:
  Arrivals(std::span<const float> sent, Memory memory)
      : sent_(sent), buffer_(make_buffer(memory, sent.size())), received_(sent.size()) {}

  // Returns where to receive. Every value is NaN before, so that one which nobody wrote shows.
  float* prepare();

  // The part of a receive that MPI leaves to the program.
  void finish() { buffer_->after_receive(); }

  // Looks at the message that arrived since, where it was to arrive.
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
  std::unique_ptr<Buffer> buffer_;
  std::vector<float> received_;
  std::vector<float> first_;
  double max_error_ = 0;
  bool identical_ = true;
  bool broken_ = false;
};

}  // namespace thinwire::bench
