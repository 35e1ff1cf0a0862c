// Ranks in threads: streams of host functions, and a transport between them, as a program makes one
// of what it has; and the service of the streams' mailboxes. Over NCCL send and receive are
// ncclSend() and ncclRecv(), groups are NCCL's, and streams are CUDA's.
#pragma once

#include <thinwire/thinwire.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

inline constexpr int kRanks = 3;

// From one thread to another.
template <class Item>
class Queue {
 public:
  void put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    came_.notify_one();
  }

  Item take() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [this] { return !items_.empty(); });
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Item> items_;
};

// A stream: what is put on it runs in order, on a thread of its own.
class Stream {
 public:
  Stream()
      : thread_([this] {
          while (const auto task = tasks_.take()) task();
        }) {}
  ~Stream() {
    put(nullptr);
    thread_.join();
  }

  void put(std::function<void()> task) { tasks_.put(std::move(task)); }

  void finish() {
    std::promise<void> past;
    put([&past] { past.set_value(); });
    past.get_future().wait();
  }

 private:
  Queue<std::function<void()>> tasks_;
  std::thread thread_;
};

using Bytes = std::vector<std::byte>;
using Ways = std::array<std::array<Queue<Bytes>, kRanks>, kRanks>;  // messages, from and to

// One rank's end of the transport. Each rank has one stream, on which messages between two ranks
// meet in the order in which they are posted. The library makes an all_gather of sends and
// receives.
struct End {
  struct Message {
    int peer;
    bool sends;
    std::byte* data;
    std::uint64_t bytes;
  };

  int rank;
  Ways* ways;
  Stream* stream;
  std::vector<Message> posted = {};  // in the group that is open

  tw_stream_transport table() {
    tw_stream_transport made{};
    made.size = sizeof made;
    made.rank = rank;
    made.ranks = kRanks;
    made.context = this;
    made.begin_group = [](void*) { return TW_OK; };
    made.end_group = [](void* context) { return static_cast<End*>(context)->go(); };
    made.send = [](void* context, int32_t peer, const void* data, uint64_t bytes, void*) {
      auto* const begin = static_cast<std::byte*>(const_cast<void*>(data));  // only ever read
      static_cast<End*>(context)->posted.push_back({peer, true, begin, bytes});
      return TW_OK;
    };
    made.receive = [](void* context, int32_t peer, void* data, uint64_t bytes, void*) {
      static_cast<End*>(context)->posted.push_back(
          {peer, false, static_cast<std::byte*>(data), bytes});
      return TW_OK;
    };
    made.call = [](void*, void (*function)(void*), void* argument, void* on) {
      static_cast<Stream*>(on)->put([=] { function(argument); });
      return TW_OK;
    };
    return made;
  }

  // A group's messages move when the stream comes to them: nothing waits here.
  tw_status go() {
    stream->put([this, messages = std::exchange(posted, {})] {
      for (const Message& each : messages) {
        if (each.sends) (*ways)[rank][each.peer].put(Bytes(each.data, each.data + each.bytes));
      }
      for (const Message& each : messages) {
        if (each.sends) continue;
        const Bytes came = (*ways)[each.peer][rank].take();
        std::memcpy(each.data, came.data(), each.bytes);
      }
    });
    return TW_OK;
  }
};

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
