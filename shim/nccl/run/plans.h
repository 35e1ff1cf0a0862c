// A communicator's plans, kept for calls that come again.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "run/call.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

// Properties by which plans differ on one communicator.
struct PlanKey {
  std::uint32_t operation = 0;
  std::uint32_t dtype = 0;
  std::int32_t peer = 0;
  std::uint32_t way = 0;
  std::uint32_t capacity[2] = {512, 512};
  std::uint32_t flags = 0;
  unsigned codec = 0;  // of Settings::codecs
  std::uint64_t count = 0;
  std::uint64_t reference_bytes = 0;
  double scale = 0;
  bool operator==(const PlanKey&) const = default;
};

struct Plan {
  tw_stream_plan* handle = nullptr;
  tw_stream_plan_info info{};
  std::atomic<std::uint32_t> users{0};  // calls that are kept or under way
  bool recent = false;

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { tw_stream_plan_destroy(handle); }
};

// True if there is no plan for want of memory.
inline bool is_of_memory(tw_status why) {
  return why != TW_UNSUPPORTED && why != TW_INVALID_ARGUMENT;
}
inline int reason_without_plan(bool reduces, tw_status why) {
  return why == TW_UNSUPPORTED && reduces ? TW_RAW_OPERATION : TW_RAW_SHAPE;
}

// Plans of one host thread at a time; `users` alone is given back by others.
class Plans {
 public:
  // Returns the plan, with one user more; null, and why, if there is none.
  Plan* take(tw_stream_comm* comm, const PlanKey& key, tw_status* why);
  void clear() { plans_.clear(); }

 private:
  struct Hash {
    std::size_t operator()(const PlanKey& key) const;
  };
  // Programs whose counts change at every call would fill the memory.
  static constexpr std::size_t kMost = 512;
  void forget_some();

  std::unordered_map<PlanKey, std::unique_ptr<Plan>, Hash> plans_;
};

// Keys by which all ranks know a collective: the plan that it has, and the kind whose calls share
// a capacity. For messages see run/messages.h. Pure but for the settings, which ranks compare.

// `is_whole`: what it sends is one group, whatever the settings say.
PlanKey plan_key(const Call& call, int ranks, bool is_whole);

// Makes room in the slots of a call in a graph, whose capacity stays: data that need a sixteenth
// more still fit. Codecs of fixed size need none.
void make_room_in_graph(PlanKey& key);

// The key of calls that need about the same capacity: the same values, by the name of a broadcast's
// root too, in arrays of about one size, under one codec. Of the codecs of either side: a kind is
// asked for before it is known which side it is.
std::uint64_t kind_key(const Call& call, const PlanKey& plan, unsigned exchange);

// NCCL's Reduce is a pipeline that brings its root one array; in two exchanges of slots come the
// others' shares of its block, and then their sums; in two levels those of nodes. All ranks know
// the capacities alike.
bool brings_less(const PlanKey& key, int ranks_or_nodes);

}  // namespace thinwire::nccl
