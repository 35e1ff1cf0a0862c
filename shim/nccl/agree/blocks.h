// Blocks that have come for this rank and wait to be taken. Written by the helper, read by any
// thread.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "agree/fields.h"
#include "agree/gate.h"
#include "agree/spare_bytes.h"

namespace thinwire::nccl::agree {

class Blocks {
 public:
  // `most`: bytes of one rank that may wait; `all`: of all ranks of all communicators. What is kept
  // beside them counts too, so that nobody can fill the memory with many small parts.
  explicit Blocks(Gate& gate, std::uint64_t most = quarter_of_memory(),
                  Budget& all = process_budget())
      : gate_(gate), most_(most), all_(all) {}
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // False if it is not the block's next part, or too much waits.
  bool put(const Block& block, std::uint64_t total, std::uint64_t offset, ByteView bytes);
  Taken take(const Block& block, std::span<std::byte> to, std::chrono::milliseconds patience);

  // As Gate::end(), of collectives' blocks alone, and of those of messages from one rank.
  void end_collectives();
  void end_messages(int from);

 private:
  struct Pile {
    std::uint64_t total = 0;
    std::uint64_t come = 0;
    std::uint64_t taken = 0;
    std::deque<Bytes> parts;
    std::size_t begin = 0;  // what is taken of the first
  };

  bool charge(int rank, std::uint64_t bytes);
  void release(int rank, std::uint64_t bytes);
  Taken take_now(const Block& block, std::span<std::byte> to);
  // Both are called with the mutex.
  bool has(const Block& block) const;
  bool has_ended(const Block& block) const;
  Outcome outcome(const Block& block);

  Gate& gate_;
  const std::uint64_t most_;
  Budget& all_;
  std::mutex mutex_;
  std::map<Block, Pile> piles_;
  std::map<int, std::uint64_t> waiting_;  // bytes, by the rank that they are from
  bool collectives_ended_ = false;
  std::set<int> messages_ended_;  // by the rank that they are from
};

}  // namespace thinwire::nccl::agree
