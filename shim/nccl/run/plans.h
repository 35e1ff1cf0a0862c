// A communicator's plans, kept for calls that come again.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <unordered_map>

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

}  // namespace thinwire::nccl
