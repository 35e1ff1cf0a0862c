// Checks of what comes of the array.
#pragma once

#include "job.h"

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

}  // namespace thinwire::bench
