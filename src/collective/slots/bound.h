// Sums whose results keep a stated bound (allreduce-abs=, allreduce-rel=): before anything is
// encoded each rank tells the others the range of its values, and all compute the codec's parameter
// from what they were told; spec/slot.md, "Bounded sums".
#pragma once

#include <cstdint>

#include "collective/key_range.h"
#include "collective/slots/plan.h"
#include "slot/slot.h"

namespace thinwire::collective {

using namespace slot;

inline constexpr std::uint64_t kRangeMark = 0x0065676E61722077u;  // "w range", version 0

// The words by which a rank tells its range, in the first bytes of a block of kSlotUnit.
THINWIRE_HOST_DEVICE constexpr SlotWords told_range(std::uint64_t call, std::uint64_t rank,
                                                    const KeyRange& range) {
  SlotWords words{{kRangeMark, call, rank, static_cast<std::uint64_t>(range.least),
                   static_cast<std::uint64_t>(range.most),
                   static_cast<std::uint64_t>(range.outside), 0, 0}};
  words.word[kSlotWords - 1] = slot_checksum(words);
  return words;
}

// The part of a run's record after the outcomes; what the ranks told follows it.
struct BoundRecord {
  const SlotPlan* plan = nullptr;
  std::uint64_t call = 0;
  std::uint64_t parameter = 0;  // the codec's, after it is resolved; under 0 nothing gets smaller

  SlotWords* told() { return reinterpret_cast<SlotWords*>(this + 1); }
};

// The number of ranks that a run is told of: in a sample encode this one alone, which takes the
// others to be like it.
int told_ranks(const SlotPlan& plan);

// Bytes of the record; 0 if the plan has no bound.
std::uint64_t bound_record_bytes(const SlotPlan& plan);

// Computes the parameter of a BoundRecord: the same on all ranks, 0 if the bound cannot be kept
// or what was told is damaged.
void resolve_bound(void* record);

}  // namespace thinwire::collective
