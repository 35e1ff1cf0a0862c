// How the device tells the host what came of its work: one 64-bit word.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "base/status.h"

namespace thinwire::device {

// 0 until it is known; then the top bit, a status in the next seven, and a size in the rest.
using Outcome = std::uint64_t;

inline constexpr std::uint64_t kKnown = std::uint64_t{1} << 63;
inline constexpr int kStatusShift = 56;

THINWIRE_HOST_DEVICE constexpr Outcome make_outcome(StatusCode status, std::uint64_t bytes) {
  return kKnown | static_cast<std::uint64_t>(status) << kStatusShift | bytes;
}

constexpr StatusCode outcome_status(Outcome outcome) {
  return static_cast<StatusCode>((outcome & ~kKnown) >> kStatusShift);
}

constexpr std::uint64_t outcome_bytes(Outcome outcome) {
  return outcome & ((std::uint64_t{1} << kStatusShift) - 1);
}

}  // namespace thinwire::device
