// Buffers that parts of blocks come and go in, kept for the next parts: a buffer that the system
// takes back and gives anew for each part costs more than all that is done with its bytes.
#pragma once

#include <atomic>
#include <cstdint>

#include "agree/messages.h"
#include "agree/outbox.h"

namespace thinwire::nccl::agree {

// How much memory a process keeps for others.

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

// An empty one, with room if a part has been in it. From any thread.
Bytes spare_bytes();
// For a part to come; freed if enough are kept.
void keep_spare(Bytes&& used) noexcept;

// A message with a part in it. Its buffer is kept after all that share it are done.
SharedBytes pack_part(const Message& message);

}  // namespace thinwire::nccl::agree
