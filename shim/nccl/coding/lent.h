// What calls on one stream of a communicator are lent, and those that are under way on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "coding/classes.h"
#include "coding/plans.h"
#include "process/counters.h"

namespace thinwire::nccl {

// A call that the stream has not come past.
struct Flight {
  void* record = nullptr;
  std::uint64_t record_bytes = 0;
  std::uint64_t sequence = 0;  // among those of its stream
  Plan* plan = nullptr;        // none: the record has the times before and behind a call
  Class* of[2] = {};           // of its exchanges
  Turn turn{};                 // of the call that is timed
  bool is_trial = false;
  bool again = false;               // see Class::measured()
  bool sizes_follow_error = false;  // see CodecUse
  Counters* counters = nullptr;
  Flight* next = nullptr;
};

// Flights and their records, for use again.
class Flights {
 public:
  explicit Flights(int device) : device_(device) {}

  Flight* take(std::uint64_t record_bytes);  // null: no memory
  void give_back(Flight* flight);
  void release_all();

 private:
  void release_record(const Flight& flight) const;

  const int device_;
  Flight* free_ = nullptr;
  std::uint64_t most_ = 0;
};

class Lent {
 public:
  explicit Lent(int device) : device_(device) {}

  // False: no memory.
  bool reserve(const tw_stream_plan_info& needs);
  // Lends the call at this place of a group what it works in. It is enqueued then, or nothing is
  // any more: what it leaves as zeros counts as such. False, and nothing changed: no memory.
  bool lend(std::size_t place, const tw_stream_plan_info& needs, tw_stream_call* call);
  // Null: no memory.
  void* open_mailbox();
  void* mailbox() const { return mailbox_.load(std::memory_order_acquire); }

  void push(Flight* flight);
  // The oldest flight, if the stream has come past it.
  Flight* first() const { return first_; }
  Flight* pop();
  bool idle() const { return first_ == nullptr; }
  void release_all();

  std::uint64_t stream = 0;  // whose calls it serves now, see identity_of()
  std::uint64_t group = 0;   // the last one that used it, and how many of its calls did
  std::size_t places = 0;
  std::uint64_t given = 0;  // bytes of the chunk that the mailbox wants; of the service thread

 private:
  // The workspace comes first, of which so much is zeros once the calls on it are complete.
  struct Area {
    void* memory = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t workspace_bytes = 0, zeros = 0;

    bool has(std::uint64_t device_bytes, std::uint64_t workspace) const {
      return memory != nullptr && workspace_bytes >= workspace &&
             bytes - workspace_bytes >= device_bytes;
    }
  };
  struct Retired {
    void* memory;
    std::uint64_t after;  // the last flight that may use it
  };

  Area* area_for(std::size_t place, const tw_stream_plan_info& needs);

  const int device_;
  std::vector<Area> areas_;
  std::vector<Retired> retired_;
  std::atomic<void*> mailbox_{nullptr};  // the service thread looks at it
  Flight* first_ = nullptr;
  Flight* last_ = nullptr;
  std::uint64_t pushed_ = 0;
};

}  // namespace thinwire::nccl
