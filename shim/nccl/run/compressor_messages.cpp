// Decisions about messages. The two ends of one know its bytes alike and nothing else, so that
// nothing but those and what they have agreed on decides.
#include <algorithm>

#include "base/dtype.h"
#include "run/compressor.h"
#include "run/messages.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {

void Compressor::decide_message(const Call& call, Decision& made) {
  Kind& of = made.call_number.track->of(message_key(call), !settings().force);
  made.of[0] = &of;
  if (call.operation == kSend) of.note_type(dtype_of(call.type));
  const std::optional<agree::Value> value = value_of(of, made);
  if (!value) return;
  if (value->capacity > 0) {
    note_left_to_nccl(call, made);
    return decide_in_slot(call, *value, made);
  }
  made.reason = call.raw_as_called;
  if (made.reason != 0) return;
  made.dtype = dtype_of(call.type);
  decide_raw(call, message_plan(call, made.dtype), *value, made);
}

void Compressor::decide_in_slot(const Call& call, const agree::Value& value, Decision& made) {
  if (!is_of_floats(value.dtype)) {
    // It came over a socket, and the other end goes by it.
    made.failure = ncclRemoteError;
    return set_error(made.failure);
  }
  know_nodes();
  made.dtype = value.dtype;
  PlanKey key = message_plan(call, value.dtype);
  key.capacity[0] = value.capacity;
  if (message_bytes(call) % dtype_size(static_cast<Dtype>(value.dtype)) != 0) {
    made.reason = kNotWhole;
    return;
  }
  made.reason = take_choice(side_of(call), choice_as(call, value.dtype), key, made);
  if (made.reason != 0) return;
  if (call.is_captured()) make_room_in_graph(key);
  if (call.is_captured() ? captured_goes_raw(value, made) : goes_raw(value, made)) return;
  // A lossless codec gives back any bits, whatever they are; a lossy one would make other integers
  // of integers.
  const bool is_another = call.operation == kSend && dtype_of(call.type) != value.dtype;
  if (is_another && !settings().codecs[made.codec].lossless) key.flags |= TW_STREAM_AS_IS;
  take_plan(call, key, made);
}

int Compressor::largest_needs_of_any_type(const Call& call, Working& needs) {
  const Side side = side_of(call);
  int veto = TW_RAW_DTYPE;
  for (const std::uint32_t dtype : kFloats) {
    const Choice choice = choice_as(call, dtype);
    if (choice.reason[side] != 0) continue;
    PlanKey key = message_plan(call, dtype);
    key.codec = choice.codec[side];
    const int reason = largest_needs(call, key, needs);
    if (reason == TW_RAW_NO_MEMORY) return reason;
    // If there is no plan for it here, there is none at the other end.
    veto = veto == 0 ? 0 : reason;
  }
  return veto;
}

}  // namespace thinwire::nccl
