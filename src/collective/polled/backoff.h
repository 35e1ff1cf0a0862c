// Data that did not shrink lately is not tried again piece by piece.
#pragma once

#include <algorithm>
#include <cstdint>

namespace thinwire::collective {

// After each decline in a row twice as many pieces stay raw untried, kMostSkipped at most; the
// first one that shrinks ends that. So incompressible data costs little of its coding, and data
// that shrinks again is noticed.
class Backoff {
 public:
  static constexpr std::uint32_t kMostSkipped = 64;

  // Whether the next piece is to be tried.
  bool tries() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }

  // Takes the result of one that was tried.
  void saw(bool declined) {
    skipped_ = declined ? std::min(2 * skipped_ + 1, kMostSkipped) : 0;
    left_ = skipped_;
  }

 private:
  std::uint32_t skipped_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace thinwire::collective
