// When to ask again for what could not be learnt: soon at first, then once a second, however many
// messages wait for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace thinwire::mpi {

class AskAgain {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kFirst = std::chrono::milliseconds(1);
  static constexpr Clock::duration kLongest = std::chrono::seconds(1);

  // Nothing is kept of ranks that answered.
  bool is_time(int rank, Clock::time_point now = Clock::now()) const {
    if (waiting_.load(std::memory_order_relaxed) == 0) return true;
    const std::lock_guard lock(mutex_);
    const auto found = ranks_.find(rank);
    return found == ranks_.end() || now >= found->second.next;
  }

  void failed(int rank, Clock::time_point now = Clock::now()) {
    const std::lock_guard lock(mutex_);
    const auto [at, first] = ranks_.try_emplace(rank, Wait{{}, kFirst});
    if (!first) at->second.pause = std::min(2 * at->second.pause, kLongest);
    at->second.next = now + at->second.pause;
    waiting_.store(ranks_.size(), std::memory_order_relaxed);
  }

  void answered(int rank) {
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    ranks_.erase(rank);
    waiting_.store(ranks_.size(), std::memory_order_relaxed);
  }

 private:
  struct Wait {
    Clock::time_point next;
    Clock::duration pause;
  };
  mutable std::mutex mutex_;  // guards the map
  std::unordered_map<int, Wait> ranks_;
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace thinwire::mpi
