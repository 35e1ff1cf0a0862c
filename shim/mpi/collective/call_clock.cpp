#include "shim/mpi/collective/call_clock.h"

#include <utility>

namespace thinwire::mpi {

void CallClock::begin() {
  real().Barrier(own_);
  began_ = std::chrono::steady_clock::now();
  UnderWay::begin();
}

void CallClock::end() {
  UnderWay::end();
  real().Barrier(own_);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began_;
  std::exchange(of_, nullptr)->took(is_coded_, static_cast<std::uint64_t>(took.count()));
}

}  // namespace thinwire::mpi
