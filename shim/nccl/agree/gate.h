// The gate at which host threads of a communicator wait for its helper, and what ends all waiting.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "agree/agree.h"

namespace thinwire::nccl::agree {

class Gate {
 public:
  Outcome outcome() const { return outcome_.load(std::memory_order_acquire); }

  // Ends the wait for good; an abort stands above the rest. Wakes all.
  void end(Outcome how) {
    {
      const std::lock_guard lock(mutex_);
      if (outcome_ != Outcome::kAborted) outcome_ = how;
    }
    changed_.notify_all();
  }
  // After a change of what somebody may wait for.
  void notify() {
    {
      const std::lock_guard lock(mutex_);
    }
    changed_.notify_all();
  }

  // Until `holds` or the end; nothing is locked meanwhile. The second gives up after a time.
  template <typename Holds>
  void wait(Holds holds) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return holds() || outcome_ != Outcome::kKnown; });
  }
  template <typename Holds>
  void wait_for(std::chrono::milliseconds time, Holds holds) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return holds() || outcome_ != Outcome::kKnown; });
  }

 private:
  std::atomic<Outcome> outcome_{Outcome::kKnown};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace thinwire::nccl::agree
