// The trials of "auto": the candidates on samples of one array.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>

#include "message/automatic.h"
#include "message/sample.h"

namespace thinwire::message {

inline constexpr std::size_t kMostTrials = 4;

// A codec's result on a sample, tried where the sample lies.
struct Trial {
  Coder coder;
  const Sample* sample;
  std::uint64_t bytes = 0;  // of the sample's frame, or of the sample if it would not shrink

  // The part that is left of one byte.
  double share() const {
    return static_cast<double>(bytes) / static_cast<double>(sample->array.raw_bytes());
  }
};

// Fills in the bytes of all trials, at most kMostTrials, of samples of the array at `source`. They
// run side by side on the GPU, after what is on `stream`.
Status try_all(std::span<Trial> trials, const std::byte* source, device::StreamHandle stream);

class Comparison {
 public:
  // `array` outlives the comparison.
  Comparison(const codec::Chunk& array, const std::byte* source, device::StreamHandle stream);

  // Compares the fast candidates.
  Status compare();

  // Tries, after compare(), whether the slow candidate leaves away enough of the array for its
  // time, of values, or of their differences along the stride that was found.
  Status compare_slow(const AutomaticTerms& terms);

  // The best of all; it has no codec if nothing was tried.
  const Trial& best() const { return best_; }
  double best_share() const { return best_share_; }

 private:
  void add(const Coder& coder);
  void add_as_line(Coder coder);
  Status find_stride();
  double share_of(const Trial& trial) const;
  Status run();
  void consider(const Trial& trial);

  const codec::Chunk& array_;
  const std::byte* source_;
  device::StreamHandle stream_;
  std::optional<Sample> boxes_;  // one codec alone sees axes
  Sample runs_;
  std::array<Trial, kMostTrials> trials_{};
  std::size_t count_ = 0;
  Trial best_{}, last_{};  // of all, and of the last run
  double best_share_ = std::numeric_limits<double>::infinity();
  Trial line_{};  // of the codec that is tried with strides, without one
};

}  // namespace thinwire::message
