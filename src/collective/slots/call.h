// The request for a collective in slots, and how its values lie.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "codec/spec.h"
#include "collective/slots/nodes.h"
#include "frame/header.h"
#include "plan/operation.h"

namespace thinwire::collective {

// Values are part of the C ABI (tw_stream_operation, tw_stream_way); never renumber.
enum class SlotOperation : std::uint32_t {
  kAllgather = 0,
  kBcast = 1,
  kSend = 2,
  kReceive = 3,
  kReduceScatter = 4,
  kAllreduce = 5,
  kAlltoall = 6,
  kGather = 7,
  kScatter = 8,
  kReduce = 9,
};
inline constexpr std::uint32_t kSlotOperationCount = 10;

enum class SlotWay : std::uint32_t { kPlanned = 0, kGather = 1, kDirect = 2 };
inline constexpr std::uint32_t kSlotWayCount = 3;

enum class SampleEncode : std::uint32_t { kNone, kFirst, kResult };

struct SlotCall {
  SlotOperation operation = SlotOperation::kAllgather;
  Dtype dtype = Dtype::kF32;
  int peer = 0;
  std::uint64_t count = 0;
  std::array<std::uint32_t, 2> capacity{};
  SlotWay way = SlotWay::kPlanned;
  SampleEncode sample = SampleEncode::kNone;
  double scale = 1;
  bool premultiplied = false;  // each rank's values by a factor of its own, before they are added
  bool rounds = false;         // messages of an exchange, if the call is alone
  bool as_is = false;          // a message's values are spilled, whatever they would take
  // Memory for results that calls are coded against, the same on all ranks; 0: there is none.
  std::uint64_t reference_bytes = 0;
  codec::Spec spec;
  frame::Mark mark = frame::file_mark();
  int rank = 0, ranks = 1;
  std::shared_ptr<const SlotNodes> nodes{};  // none: each rank is on a node of its own

  std::uint64_t bytes_of(std::uint64_t values) const { return values * dtype_size(dtype); }
  bool reduces() const { return operation == SlotOperation::kReduceScatter || sums_whole_arrays(); }
  // Whether the sums are those of a loop over the ranks, which no node's sums may be part of.
  bool keeps_order() const { return reduces() && spec.orders_reductions(); }
  // Whether they are exact, and what their total is divided by: a scale of one over the number of
  // ranks makes it the mean, rounded once.
  bool is_exact() const { return reduces() && spec.adds_exactly(); }
  std::uint32_t divisor() const {
    return is_exact() && scale == 1.0 / ranks ? static_cast<std::uint32_t>(ranks) : 1;
  }
  // Whether values go without slots: where an order is kept, and slots would be as large.
  bool is_raw() const;
  bool sums_whole_arrays() const {
    return operation == SlotOperation::kAllreduce || operation == SlotOperation::kReduce;
  }
  // Whether this rank's `send` is read, and its `receive` written.
  bool reads() const;
  bool writes() const;
};

// How `total` values are cut into a block for each rank; the last ones may be shorter or empty.
struct Partition {
  std::uint64_t total = 0;
  std::uint64_t step = 0;
  // If it is given, the blocks of a column follow each other, in the order of the nodes; else
  // blocks lie in the order of ranks.
  const SlotNodes* by_local = nullptr;

  std::uint64_t first(int rank) const {
    return by_local == nullptr ? at(rank) : at_local(by_local->local(rank), by_local->of(rank));
  }
  std::uint64_t count(int rank) const {
    const std::uint64_t left = total - first(rank);
    return left < step ? left : step;
  }
  // With `by_local`: the values of all blocks of a local number.
  std::uint64_t first_of_local(int local) const { return at_local(local, 0); }
  std::uint64_t count_of_local(int local) const {
    return at_local(local + 1, 0) - at_local(local, 0);
  }

 private:
  std::uint64_t at(int place) const {
    const auto before = static_cast<std::uint64_t>(place);
    return step != 0 && before > total / step ? total : before * step;
  }
  std::uint64_t at_local(int local, int node) const { return at(local * by_local->count() + node); }
};

// kDirect or kGather of an Allreduce or a Reduce.
SlotWay way_of(const SlotCall& call);

// The blocks that are summed by one rank each; by columns, of an Allreduce or a Reduce: by a rank
// that has a column, the others have none.
Partition partition_of(const SlotCall& call);
Partition partition_by_columns(const SlotCall& call);

// kInvalidArgument or kUnsupported, and why.
Status check(const SlotCall& call);

}  // namespace thinwire::collective
