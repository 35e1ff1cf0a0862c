// Streams of host functions, ranks in threads, and a transport between them: what programs have
// from NCCL, made of host memory.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../task_queue.h"
#include "thinwire/thinwire.h"

namespace thinwire::slots {

using Stream = TaskQueue;

// Ranks that are joined. Messages between two of them meet in the order of their posting.
class World {
 public:
  explicit World(int ranks) : ranks_(ranks) {}

  int ranks() const { return ranks_; }

  // Sees what arrives, before the receiver does; may change it.
  using Tamper = std::function<void(int from, int to, std::byte* data, std::uint64_t bytes)>;
  void tamper(Tamper with) { tamper_ = std::move(with); }

  // A table for `rank`. With `collectives` it has functions of its own for all_gather and
  // broadcast. The world must outlive it.
  tw_stream_transport end(int rank, bool collectives);

  int released = 0;                                    // tables that were
  int sends_to_fail = 0;                               // so many posts of sends return TW_DEVICE
  std::size_t most_together = 0;                       // messages of a rank that one group had
  std::map<std::pair<int, int>, std::uint64_t> bytes;  // that came, from and to

  struct Message {
    int peer;
    bool sends;
    std::byte* data;
    std::uint64_t bytes;
    std::uint64_t place = 0;  // among those to or from that peer
    bool complete = false;
  };
  // At the post: messages meet in this order, whichever streams they are on, as NCCL has it.
  void give_place(int rank, Message& message);
  // On a stream's thread.
  void post(int rank, std::vector<Message>& messages);
  void await(int rank, const std::vector<Message>& messages);

  std::mutex mutex;

 private:
  using Way = std::pair<int, int>;  // from, to
  void meet(Way way);

  int ranks_;
  std::condition_variable moved_;
  std::map<Way, std::uint64_t> sends_, receives_;                     // posted so far
  std::map<Way, std::map<std::uint64_t, Message*>> sent_, received_;  // by place
  Tamper tamper_;
};

// Serves mailboxes of the ranks of one world on a thread of its own: what a program has of sockets.
class Carrier {
 public:
  Carrier() : thread_([this] { work(); }) {}
  ~Carrier();

  void serve(int rank, void* mailbox);
  void stop_serving(void* mailbox);
  void hold();  // blocks that came are kept, none is given
  void release();

  std::uint64_t chunks() const { return chunks_; }

 private:
  struct Served {
    int rank;
    void* mailbox;
  };
  using Key = std::array<std::uint64_t, 3>;  // call, block, receiver + 1 (0: all)

  void work();
  bool take(const Served& served);
  bool give(const Served& served);

  std::mutex mutex_;
  std::vector<Served> served_;
  std::map<Key, std::vector<std::byte>> blocks_;
  bool ends_ = false, held_ = false;
  std::atomic<std::uint64_t> chunks_{0};
  std::thread thread_;
};

}  // namespace thinwire::slots
