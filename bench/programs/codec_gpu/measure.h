// The times of one codec on one array, and checks of what comes of it.
#pragma once

#include <optional>

#include "job.h"
#include "timing.h"

namespace thinwire::bench {

// The CPU's frame of the array and what it decodes to, computed before anything is timed and kept
// on the GPU too. Throws std::runtime_error, which says what is wrong, if the CPU itself does
// not keep its promises.
class Expected {
 public:
  Expected(const Request& request, const Coder& coder);

  // The array is declined: there is no frame.
  bool declined() const { return frame_bytes_ == 0; }
  std::uint64_t frame_bytes() const { return frame_bytes_; }
  // The largest |x - x'| over values that are finite in both; infinite if one that was finite is
  // not so any more.
  double max_error() const { return max_error_; }
  // Largest less smallest of the array's finite values.
  double range() const { return range_; }

  // Hold what the first `calls` calls wrote to what is expected, bit for bit. A codec without a CPU
  // side may write other frames of the same array, if they decode: then check_frames() is false.
  bool check_frames(const Slots& slots, int calls, const Stream& stream) const;
  void check_arrays(const Slots& slots, int calls, const Stream& stream) const;
  // Checks sums of arrays that were added once to the array itself. False if no CPU can say what
  // comes of it.
  bool knows_sums() const { return sum_ != nullptr; }
  void check_sums(const Slots& slots, int calls, const Stream& stream) const;

 private:
  bool on_cpu_ = true;
  std::uint64_t frame_bytes_ = 0;
  double max_error_ = 0;
  double range_ = 0;
  std::unique_ptr<DeviceBytes> frame_;
  std::unique_ptr<DeviceBytes> array_;
  std::unique_ptr<DeviceBytes> sum_;
};

// Microseconds. If the codec declined the array there is no frame and nothing to decode, and
// "ready" is when the host knew that.
struct Measured {
  Times encode;                     // on the GPU
  Times decode;                     // on the GPU
  std::optional<Times> decode_add;  // the same, added to an array; if the codec can
  Times ready;                      // host: from an idle GPU until it knows the frame's size
  Times ready_synced;               // host: until the stream is finished
  Times graph_ready;                // as ready, replaying a graph of the encode
  Times decoded;                    // host: until the polled word says that the array is there
  Times decoded_synced;             // host: until the stream is finished
  bool frames_vary = false;         // the same array had frames of the same size that differ
};

// Every phase writes over poison and is held to what is expected, in all places that it wrote to.
// Throws std::runtime_error where a call fails or something else comes out.
Measured measure(const Coder& coder, const Slots& slots, const Expected& expected,
                 const Stream& stream, const DeviceBytes& flush);

}  // namespace thinwire::bench
