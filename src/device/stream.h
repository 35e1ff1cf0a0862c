// CUDA streams as the rest of the tree sees them, without CUDA's headers: their handle, what came
// of their work, and the order of work on several.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "base/status.h"

struct CUstream_st;
struct CUevent_st;

namespace thinwire::device {

using StreamHandle = CUstream_st*;

// How the device tells the host what came of its work, in one 64-bit word: 0 until it is known;
// then the top bit, a status in the next seven, and a size in the rest.
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

// The device of a stream; `fallback` if that cannot be told, and for CUDA's default streams,
// which are every device's.
int device_of_stream(StreamHandle stream, int fallback);

// Makes work that comes next on `later` wait for what is on `earlier` now; `event` is of the device
// of `earlier`. CUDA builds only.
Status wait_for(StreamHandle earlier, CUevent_st* event, StreamHandle later);

// Work on any streams of one device, each piece after the one before. One thread at a time, whose
// current device that is; nothing is captured.
class Order {
 public:
  Order() = default;
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;
  ~Order();

  // Makes work that comes next on the stream wait for what came before the last end().
  Status begin(StreamHandle stream);
  Status end(StreamHandle stream);

 private:
  CUevent_st* last_ = nullptr;
};

}  // namespace thinwire::device
