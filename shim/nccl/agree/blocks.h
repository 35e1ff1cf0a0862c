// Blocks that have come for this rank and wait to be taken. Written by the helper, read by any
// thread.
#pragma once

#include <deque>
#include <map>
#include <mutex>

#include "agree/fields.h"
#include "agree/gate.h"

namespace thinwire::nccl::agree {

class Blocks {
 public:
  // `most`: bytes of one rank that may wait, so that it cannot fill the memory.
  explicit Blocks(Gate& gate, std::uint64_t most = share_of_memory()) : gate_(gate), most_(most) {}

  // A quarter of the machine's memory.
  static std::uint64_t share_of_memory();

  // False where it is not the block's next part, or too much waits.
  bool put(const Block& block, std::uint64_t total, std::uint64_t offset, ByteView bytes);
  Taken take(const Block& block, std::span<std::byte> to, std::chrono::milliseconds patience);

 private:
  struct Pile {
    std::uint64_t total = 0;
    std::uint64_t come = 0;
    std::uint64_t taken = 0;
    std::deque<Bytes> parts;
    std::size_t begin = 0;  // what is taken of the first
  };

  Taken take_now(const Block& block, std::span<std::byte> to);
  bool has(const Block& block);

  Gate& gate_;
  const std::uint64_t most_;
  std::mutex mutex_;
  std::map<Block, Pile> piles_;
  std::map<int, std::uint64_t> waiting_;  // bytes, by the rank that they are from
};

}  // namespace thinwire::nccl::agree
