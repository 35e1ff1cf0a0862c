// Processors that threads of simulated ranks share.
#pragma once

#include <cstdint>
#include <deque>

namespace thinwire::simulate {

// Processors of a node, or of all. Who comes first is served first, for one step at a time.
class Processors {
 public:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  // `count` 0: as many as there are threads.
  explicit Processors(std::uint32_t count) : count_(count) {}

  // Whether the thread has got one; else it waits for its turn.
  bool take(std::uint32_t thread) {
    if (count_ == 0 || running_ < count_) {
      ++running_;
      return true;
    }
    waiting_.push_back(thread);
    return false;
  }

  bool is_awaited() const { return !waiting_.empty(); }

  // Gives one back; returns the thread that gets it, or kNobody.
  std::uint32_t give_back() {
    if (waiting_.empty()) {
      --running_;
      return kNobody;
    }
    const std::uint32_t next = waiting_.front();
    waiting_.pop_front();
    return next;
  }

 private:
  std::uint32_t count_, running_ = 0;
  std::deque<std::uint32_t> waiting_;
};

}  // namespace thinwire::simulate
