#include "run/messages.h"

#include <algorithm>
#include <bit>

#include "base/dtype.h"
#include "state/reason.h"

namespace thinwire::nccl {
namespace {

std::uint64_t size_of(std::uint32_t dtype) { return dtype_size(static_cast<Dtype>(dtype)); }

}  // namespace

bool is_of_floats(std::uint32_t dtype) {
  return std::ranges::find(kFloats, dtype) != std::end(kFloats);
}

std::uint64_t message_bytes(const Call& call) { return call.elements * element_bytes(call.type); }

Choice choice_as(const Call& call, std::uint32_t dtype) {
  const std::uint64_t bytes = message_bytes(call);
  Choice made = choose(kSend, dtype, bytes, call.rules);
  for (const Side side : {kWithinNode, kBetweenNodes}) {
    const int reason = reason_for(settings().codecs[made.codec[side]], dtype, bytes);
    made.reason[side] = reason == kNotBuilt ? 0 : reason;
  }
  return made;
}

bool could_be_coded(const Call& call) {
  if (message_bytes(call) < settings().threshold) return false;
  return std::ranges::any_of(kFloats, [&](std::uint32_t dtype) {
    const auto reasons = choice_as(call, dtype).reason;
    const bool is_whole = message_bytes(call) % size_of(dtype) == 0;
    return is_whole && (reasons[kWithinNode] == 0 || reasons[kBetweenNodes] == 0);
  });
}

std::uint64_t message_key(const Call& call) {
  std::uint64_t codecs = 0;
  for (const std::uint32_t dtype : kFloats) {
    const Choice choice = choice_as(call, dtype);
    codecs = codecs * 0x9E3779B97F4A7C15U + (choice.codec[kWithinNode] << 6) +
             choice.codec[kBetweenNodes];
  }
  const auto octave = static_cast<unsigned>(std::bit_width(message_bytes(call)));
  // Siblings decide about collectives alone.
  return (kSend | std::uint64_t{octave} << 4 | codecs << 12) & ~agree::kJoined;
}

PlanKey message_plan(const Call& call, std::uint32_t dtype) {
  PlanKey key;
  key.operation = call.operation == kSend ? TW_STREAM_SEND : TW_STREAM_RECEIVE;
  key.dtype = dtype;
  key.peer = call.peer;
  key.count = message_bytes(call) / size_of(dtype);
  return key;
}

}  // namespace thinwire::nccl
