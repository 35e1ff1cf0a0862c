// How long the bins of a trace are, so that its file stays below a bound however long the program
// runs. Pure: no clock, no file.
#pragma once

#include <cstdint>

namespace thinwire::shim {

class Bins {
 public:
  static constexpr double kFirstSeconds = 0.25;
  static constexpr std::uint64_t kMostBytes = 64 << 20;
  // Kept free for the last line.
  static constexpr std::uint64_t kForTheEnd = 64 << 10;

  explicit Bins(std::uint64_t most_bytes = kMostBytes) : room_(most_bytes - kForTheEnd) {}

  // The seconds that the next bin lasts.
  double seconds() const { return seconds_; }

  // Whether `bytes` more bytes may be written. Each time half of what was left is full bins become
  // four times as long, so that each half lasts longer than all before it together.
  bool take(std::uint64_t bytes) {
    if (used_ + bytes > room_) return false;
    used_ += bytes;
    while (room_ - used_ < left_to_next_ * static_cast<double>(room_)) {
      seconds_ *= 4;
      left_to_next_ /= 2;
    }
    return true;
  }

 private:
  std::uint64_t room_;
  std::uint64_t used_ = 0;
  double seconds_ = kFirstSeconds;
  double left_to_next_ = 0.5;
};

}  // namespace thinwire::shim
