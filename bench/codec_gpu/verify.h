// What the CPU makes of the array, and whether the GPU makes the same of it.
#pragma once

#include "job.h"

namespace thinwire::bench {

// The CPU's frame of the array and what it decodes to, computed before anything is timed and kept
// on the GPU too. Throws std::runtime_error, which says what is wrong, where the CPU itself does
// not keep its promises.
class Expected {
 public:
  Expected(const Request& request, const Coder& coder);

  // The CPU declines the array: there is no frame.
  bool declined() const { return frame_bytes_ == 0; }
  std::uint64_t frame_bytes() const { return frame_bytes_; }
  // The largest |x - x'| over values that are finite in both; infinite where one that was finite is
  // not so any more.
  double max_error() const { return max_error_; }
  // Largest less smallest of the array's finite values.
  double range() const { return range_; }

  // Hold what the first `calls` calls wrote to the CPU's, bit for bit.
  void check_frames(const Slots& slots, int calls, const Stream& stream) const;
  void check_arrays(const Slots& slots, int calls, const Stream& stream) const;

 private:
  std::uint64_t frame_bytes_ = 0;
  double max_error_ = 0;
  double range_ = 0;
  std::unique_ptr<DeviceBytes> frame_;
  std::unique_ptr<DeviceBytes> array_;
};

}  // namespace thinwire::bench
