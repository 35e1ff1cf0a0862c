// The memory of the calls on one stream of a communicator, or in one graph, and which of these
// calls are under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "run/kinds.h"
#include "run/late_block.h"
#include "run/plans.h"
#include "state/communicators.h"

namespace thinwire::nccl {

// A call that its stream has not come past, with the record that the stream writes.
struct InFlight {
  void* record = nullptr;
  std::uint64_t record_bytes = 0;
  std::uint64_t sequence = 0;  // among those of its stream
  Plan* plan = nullptr;        // none: the record has the times before and after a call
  Kind* of[2] = {};            // of its exchanges; none and no plan: the time after a call alone
  // The earlier call that it comes after, whose end is known; see Compressor::begin_time().
  InFlight* after = nullptr;
  std::uint32_t holders = 0;  // who looks at it: where it is pushed, and what comes after it
  Turn turn{};                // of the call that is timed
  bool is_sample = false;
  std::uint32_t dtype = 0;          // of what was encoded
  bool again = false;               // see Kind::measured()
  bool sizes_follow_error = false;  // see CodecUse
  Counters* counters = nullptr;
  std::uint64_t number = 0;  // as slots have it
  bool is_receive = false;   // one message, whose number one of the other direction may have, too
  InFlight* next = nullptr;
};

// Calls in flight and their records, for use again.
class InFlightPool {
 public:
  explicit InFlightPool(int device) : device_(device) {}

  InFlight* take(std::uint64_t record_bytes);  // null: no memory; held once
  void give_back(InFlight* in_flight);         // by one who held it
  void release_all();

 private:
  void release_record(const InFlight& in_flight) const;

  const int device_;
  InFlight* free_ = nullptr;
  std::uint64_t most_ = 0;
};

// The blocks of a graph's calls that have been spilled. Each replay has the same calls with the
// same numbers, so blocks are told apart by how often theirs was spilled before, which both of its
// ends count alike.
class Replays {
 public:
  struct Name {
    std::uint64_t call = 0, block = 0;
    std::int32_t rank = 0;
    bool outgoing = false;
    auto operator<=>(const Name&) const = default;
  };

  // How often it was spilled before.
  std::uint64_t before(const Name& name);
  // Notes that a replay of it has ended.
  void finish(const Name& name);
  // Which were finished since the last time.
  std::vector<Name> take_finished();

 private:
  std::mutex mutex_;  // reports may be taken by another thread at the process's end
  std::map<Name, std::uint64_t> times_;
  std::vector<Name> finished_;
};

// A call that spills, while it does.
struct Spilling {
  std::uint64_t call = 0;
  std::uint64_t bytes = 0;  // that are carried for this rank
  bool is_to_all = false;
  bool is_news = false;  // more than is spilled for long
};

// GPU memory of a communicator's calls.
class Held {
 public:
  void take(std::uint64_t bytes) {
    const std::uint64_t now = now_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (now > most_.load(std::memory_order_relaxed)) most_.store(now, std::memory_order_relaxed);
  }
  void give(std::uint64_t bytes) { now_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::uint64_t now() const { return now_.load(std::memory_order_relaxed); }
  std::uint64_t most() const { return most_.load(std::memory_order_relaxed); }

 private:
  // Whoever takes and gives has the compressor's mutex; reports have not.
  std::atomic<std::uint64_t> now_{0}, most_{0};
};

// The memory in which a call works.
enum class Where { kNowhere, kOnDevice, kOnHost };

class StreamMemory {
 public:
  StreamMemory(int device, Held& held) : device_(device), held_(held) {}

  // For the call at this place of a group. False: no memory.
  bool reserve(std::size_t place, const Working& needs) { return grow(areas_, place, needs); }
  // Bytes that this would take of the device, if they are not there yet.
  std::uint64_t missing(std::size_t place, const Working& needs) const;
  // Lends the call at this place of a group what it works in. The caller then enqueues that call,
  // or nothing more at all: the zeros that the call leaves are counted on from now on. kNowhere,
  // and nothing changed: no memory.
  Where lend(std::size_t place, const Working& needs, tw_stream_call* call);
  // Bytes that are reserved for a call that is alone.
  std::uint64_t reserved_bytes() const { return areas_.empty() ? 0 : areas_.front().bytes; }
  // Null: no memory.
  void* open_mailbox();
  void* mailbox() const { return mailbox_.load(); }

  void push(InFlight* in_flight);
  // The oldest call in flight, if the stream has come past it.
  InFlight* first() const { return first_; }
  // One after the other, and then from the first on.
  InFlight* next_to_look_at();
  InFlight* pop();
  bool idle() const { return first_ == nullptr; }
  void release_all();

  // For calls in a graph: it is that graph's until it has ended; a capture of 0: of none now.
  bool is_of_graph = false;
  std::uint64_t capture = 0;
  std::atomic<bool> graph_has_ended{false};
  Replays replays;

  // The stream whose calls it serves now: see identity_of(); of a graph the stream's handle.
  std::uint64_t stream = 0;
  std::uint64_t group = 0;  // the last one that used it, and how many of its calls did
  std::size_t places = 0;
  std::uint64_t given = 0;     // bytes of the chunk that the mailbox wants; of the service thread
  Spilling spilling;           // of the service thread, too
  InFlight* failed = nullptr;  // a time after all that the stream has, of which a call has failed
  LateBlock late;

 private:
  // The workspace comes first, of which so much is zeros after the calls on it are complete.
  struct Area {
    void* memory = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t zeros = 0;
    Working most;  // that was asked of it

    bool has(const Working& needs) const {
      return memory != nullptr && most.workspace_bytes >= needs.workspace_bytes &&
             bytes - most.workspace_bytes >= needs.device_bytes;
    }
  };
  using Areas = std::vector<Area>;  // by place
  struct Retired {
    void* memory;
    std::uint64_t after;       // the last call in flight that may use it
    std::uint64_t held_bytes;  // of the device
  };

  // Null: no memory.
  Areas* areas_for(std::size_t place, const Working& needs);
  bool grow(Areas& among, std::size_t place, const Working& needs);
  Working larger(const Area& area, const Working& needs) const;
  void give_all(Areas& areas);
  void give(const Retired& retired);
  std::uint64_t held_bytes(const Areas& of, const Area& area) const {
    return &of == &areas_ ? area.bytes : 0;
  }

  const int device_;
  Held& held_;
  Areas areas_;
  Areas on_host_;  // while calls are under way
  std::vector<Retired> retired_;
  std::atomic<void*> mailbox_{nullptr};  // the service thread looks at it
  InFlight* first_ = nullptr;
  InFlight* last_ = nullptr;
  InFlight* looked_at_ = nullptr;
  std::uint64_t pushed_ = 0;
};

}  // namespace thinwire::nccl
