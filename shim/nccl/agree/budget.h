// How much memory a process keeps for others.
#pragma once

#include <atomic>
#include <cstdint>

namespace thinwire::nccl::agree {

// A quarter of the machine's memory; without bound if that is not known.
std::uint64_t quarter_of_memory();

// Bytes that several threads take from and give back to.
class Budget {
 public:
  explicit Budget(std::uint64_t most) : left_(most) {}

  // False: there are not so many, and nothing is taken.
  bool take(std::uint64_t bytes) {
    std::uint64_t left = left_.load();
    do {
      if (bytes > left) return false;
    } while (!left_.compare_exchange_weak(left, left - bytes));
    return true;
  }
  void give_back(std::uint64_t bytes) { left_ += bytes; }
  std::uint64_t left() const { return left_; }

 private:
  std::atomic<std::uint64_t> left_;
};

// The budget of blocks that wait to be taken, whoever sent them: half of the memory.
Budget& process_budget();

}  // namespace thinwire::nccl::agree
