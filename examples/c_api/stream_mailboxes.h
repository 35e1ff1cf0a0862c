// Service of the mailboxes of streams.
#pragma once

#include <thinwire/thinwire.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <tuple>

#include "stream_transport.h"

// The other ranks would wait for one that has failed: all end.
inline void good(tw_status status) {
  if (status == TW_OK) return;
  std::fprintf(stderr, "failed: %s\n", tw_last_error());
  std::_Exit(1);
}

using Mailboxes = std::array<void*, kRanks>;  // by rank

// Takes spilled blocks out of the mailbox of the rank that has them, chunk by chunk, and puts them
// into those of ranks whose streams wait for them. Between processes they would go by sockets.
class Carrier {
 public:
  explicit Carrier(const Mailboxes& mailboxes)
      : mailboxes_(mailboxes), thread_([this] { work(); }) {}
  ~Carrier() {
    ends_ = true;
    thread_.join();
  }

 private:
  struct Block {
    Bytes values;
    int receivers;  // that have yet to get all of it
  };

  void work() {
    while (!ends_) {
      bool moved = false;
      for (int rank = 0; rank < kRanks; ++rank) {
        moved = take(mailboxes_[rank]) || moved;
        moved = give(rank, mailboxes_[rank]) || moved;
      }
      if (!moved) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  bool take(void* mailbox) {
    tw_mailbox_chunk chunk{};
    chunk.size = sizeof chunk;
    good(tw_mailbox_offered(mailbox, &chunk));
    if (chunk.bytes == 0) return false;
    Block& block = blocks_[{chunk.call, chunk.block, chunk.rank}];
    block.receivers = chunk.rank < 0 ? kRanks - 1 : 1;
    const auto* const data = static_cast<const std::byte*>(chunk.data);
    block.values.insert(block.values.end(), data, data + chunk.bytes);
    good(tw_mailbox_taken(mailbox));
    return true;
  }

  bool give(int rank, void* mailbox) {
    tw_mailbox_chunk chunk{};
    chunk.size = sizeof chunk;
    good(tw_mailbox_wanted(mailbox, &chunk));
    if (chunk.bytes == 0) return false;
    auto found = blocks_.find({chunk.call, chunk.block, rank});
    if (found == blocks_.end()) found = blocks_.find({chunk.call, chunk.block, -1});
    const std::uint64_t end = chunk.offset + chunk.bytes;
    if (found == blocks_.end() || found->second.values.size() < end) return false;  // on its way
    std::memcpy(chunk.data, found->second.values.data() + chunk.offset, chunk.bytes);
    good(tw_mailbox_given(mailbox));
    if (end == chunk.block_bytes && --found->second.receivers == 0) blocks_.erase(found);
    return true;
  }

  const Mailboxes mailboxes_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, int>, Block> blocks_;  // call, block, receiver
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};
