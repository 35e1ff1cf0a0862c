// What a codec makes of a sample, tried where the sample lies.
#pragma once

#include <span>

#include "message/message.h"

namespace thinwire::message {

inline constexpr std::size_t kMostTrials = 4;

struct Trial {
  Coder coder;
  std::uint64_t bytes;  // of the sample's frame, or of the sample where it would not shrink
};

// Fills in the bytes of all trials, at most kMostTrials, which run side by side on the GPU behind
// what is on `stream`.
Status try_on_device(std::span<Trial> trials, const codec::Chunk& sample, const std::byte* source,
                     int device, device::StreamHandle stream);

}  // namespace thinwire::message
