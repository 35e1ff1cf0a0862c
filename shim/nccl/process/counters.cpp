#include "process/counters.h"

#include <mutex>
#include <unordered_map>

#include "process/policy.h"
#include "process/presence.h"
#include "process/trace.h"

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
  if (found == nullptr) {
    found = new Communicator;
    known.all.push_back(found);
  }
  // It is used, so that NCCL has made it.
  if (found->ranks == 0 && comm != nullptr) complete(comm, *found);
  return *found;
}

}  // namespace

const char* operation_name(int operation) {
  constexpr const char* kNames[kOperations] = {"AllReduce", "Reduce", "ReduceScatter", "AllGather",
                                               "Broadcast", "Send",   "Recv",          "AlltoAll",
                                               "Gather",    "Scatter"};
  return kNames[operation];
}

void count(const Count& call) {
  const auto add = [](std::atomic<std::uint64_t>& to, std::uint64_t more) {
    to.fetch_add(more, std::memory_order_relaxed);
  };
  Counters& of = call.communicator->of[call.operation];
  add(of.calls, 1);
  add(of.bytes, call.bytes);
  add(of.wire_bytes, call.wire_bytes);
  count_by_rule(call.rule, call.bytes, call.wire_bytes, call.reason == 0);
  add(call.reason == 0 ? of.compressed : of.raw[call.reason], 1);
  if (call.reason == 0) {
    add(of.compressed_bytes, call.bytes);
    add(of.compressed_wire_bytes, call.wire_bytes);
  }
  if (is_traced()) trace_call(call);
}

Communicator& counted(ncclComm_t comm) {
  static thread_local Last last;
  const std::uint64_t endings = table().endings.load(std::memory_order_acquire);
  if (last.communicator == nullptr || last.comm != comm || last.endings != endings) {
    last = {comm, endings, &look_up(comm)};
  }
  return *last.communicator;
}

namespace {

void put(ncclComm_t comm, Communicator* made) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  known.living[comm] = made;
  known.all.push_back(made);
  known.endings.fetch_add(1, std::memory_order_release);
}

}  // namespace

void begin(ncclComm_t comm, int ranks, int rank, agree::CommunicatorRef agreed, bool blocks,
           bool has_siblings, const std::string& name) {
  auto* const made = new Communicator;
  made->ranks = ranks;
  made->rank = rank;
  made->agreed = std::move(agreed);
  made->blocks = blocks;
  made->has_siblings = has_siblings;
  made->name = name;
  made->rules = rules_for(name, ranks);
  put(comm, made);
}

void begin_split_off(ncclComm_t comm, SplitOff from) {
  auto* const made = new Communicator;
  made->blocks = from.blocks;
  made->name = from.name;
  made->split_off = std::move(from);
  put(comm, made);
}

void with_begun(ncclComm_t comm, const std::function<void(Communicator*)>& then) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  const auto found = known.living.find(comm);
  then(found == known.living.end() ? nullptr : found->second);
}

agree::CommunicatorRef agreed_of(const Communicator& communicator) {
  const std::lock_guard lock(table().mutex);
  return communicator.agreed;
}

Communicator* begun(ncclComm_t comm) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  const auto found = known.living.find(comm);
  return found == known.living.end() ? nullptr : found->second;
}

void forget(ncclComm_t comm, const Communicator* ended) {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  const auto found = known.living.find(comm);
  if (found != known.living.end() && found->second == ended) known.living.erase(found);
  known.endings.fetch_add(1, std::memory_order_release);
}

bool is_any_living() {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  return !known.living.empty();
}

const std::vector<Communicator*>& all_communicators() { return table().all; }

std::vector<Communicator*> communicators_so_far() {
  Table& known = table();
  const std::lock_guard lock(known.mutex);
  return known.all;
}

}  // namespace thinwire::nccl
