#include "process/counters.h"

#include <mutex>
#include <unordered_map>

#include "calls/pass.h"

namespace thinwire::nccl {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<ncclComm_t, Communicator*> living;
  std::vector<Communicator*> all;
  std::atomic<std::uint64_t> endings{0};  // how often a handle has lost its meaning
};

// Never destroyed: other threads may still call NCCL while the process ends.
Table& table() {
  static Table* const made = new Table;
  return *made;
}

// The last one that this thread asked for: a lookup costs a lock.
struct Last {
  ncclComm_t comm = nullptr;
  std::uint64_t endings = 0;
  Communicator* communicator = nullptr;
};

Communicator& look_up(ncclComm_t comm) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  Communicator*& found = known.living[comm];
  if (found != nullptr) return *found;
  found = new Communicator;
  known.all.push_back(found);
  if (comm == nullptr) return *found;
  const Inside inside;
  if (real().CommCount != nullptr) real().CommCount(comm, &found->ranks);
  if (real().CommUserRank != nullptr) real().CommUserRank(comm, &found->rank);
  return *found;
}

}  // namespace

const char* operation_name(int operation) {
  constexpr const char* kNames[kOperations] = {"AllReduce", "Reduce", "ReduceScatter", "AllGather",
                                               "Broadcast", "Send",   "Recv"};
  return kNames[operation];
}

Communicator& counted(ncclComm_t comm) {
  static thread_local Last last;
  const std::uint64_t endings = table().endings.load(std::memory_order_acquire);
  if (last.communicator == nullptr || last.comm != comm || last.endings != endings) {
    last = {comm, endings, &look_up(comm)};
  }
  return *last.communicator;
}

void forget(ncclComm_t comm) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  known.living.erase(comm);
  known.endings.fetch_add(1, std::memory_order_release);
}

const std::vector<Communicator*>& all_communicators() { return table().all; }

}  // namespace thinwire::nccl
