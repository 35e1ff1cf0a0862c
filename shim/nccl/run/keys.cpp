#include "run/keys.h"

#include <bit>

#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// Above that an Allreduce of more than two ranks costs less in two exchanges. The core's rule; it
// is stated, since kinds differ by it.
constexpr std::uint64_t kMostGathered = 64 << 10;

constexpr std::uint64_t kWhole = 512;  // a capacity that holds any block

// Messages of a group of the program's are part of it.
bool goes_in_rounds(const Call& call, bool is_whole) {
  return settings().rounds && !is_whole && (call.reduces() || call.is_of_all_pairs());
}

}  // namespace

PlanKey plan_key(const Call& call, int ranks, bool is_whole) {
  PlanKey key;
  key.operation = kOperationRows[call.operation].of_stream;
  key.dtype = dtype_of(call.type);
  key.peer = call.has_peer() ? call.peer : 0;
  key.count = call.elements;
  if (call.operation == kReduce) key.way = ranks <= 2 ? TW_STREAM_GATHER : TW_STREAM_DIRECT;
  if (call.operation == kAllReduce) {
    const bool small = call.elements * element_bytes(call.type) <= kMostGathered;
    key.way = ranks <= 2 || small ? TW_STREAM_GATHER : TW_STREAM_DIRECT;
  }
  if (call.reduces() && call.op == ncclAvg) key.scale = 1.0 / ranks;
  if (call.factor) key.flags |= TW_STREAM_PREMULTIPLIED;
  if (goes_in_rounds(call, is_whole)) key.flags |= TW_STREAM_ROUNDS;
  return key;
}

std::uint64_t kind_key(const Call& call, const PlanKey& plan, unsigned exchange) {
  const auto octave =
      static_cast<unsigned>(std::bit_width(call.elements * element_bytes(call.type)));
  const std::uint64_t way = plan.way * 2 + exchange;
  const std::uint64_t operation = call.operation;
  const std::uint64_t root = call.does(kOfRoot) ? static_cast<std::uint32_t>(call.peer) : 0;
  const std::uint64_t codecs = call.choice.codec[kWithinNode] | call.choice.codec[kBetweenNodes]
                                                                    << 6;
  static_assert(kOperations <= 16 && TW_STREAM_DIRECT < 8 && TW_F8_E5M2 < 16);
  return operation | way << 4 | std::uint64_t{plan.dtype} << 8 | codecs << 12 |
         std::uint64_t{octave} << 24 | root << 32;
}

bool brings_less(const PlanKey& key, int ranks_or_nodes) {
  if (key.operation != TW_STREAM_REDUCE || key.way == TW_STREAM_GATHER) return true;
  const auto all = static_cast<std::uint64_t>(ranks_or_nodes);
  return (all - 1) * (key.capacity[0] + key.capacity[1]) < kWhole * all;
}

}  // namespace thinwire::nccl
