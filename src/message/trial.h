// A codec's result on a sample, tried where the sample lies.
#pragma once

#include <span>

#include "message/sample.h"

namespace thinwire::message {

inline constexpr std::size_t kMostTrials = 4;

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

}  // namespace thinwire::message
