#include "agree/agree.h"
#include "choose/timing_round.h"

namespace thinwire::nccl::agree {
namespace {

constexpr unsigned kWhole = 512;
// Above what was measured, as the same kind's next data may need a little more: 1/32 of it and a
// step. A smaller reserve spills more often, a larger one is sent for nothing.
constexpr unsigned kReserve = 32;
// A slot of 31/32 of raw saves less than encoding costs on any link.
constexpr unsigned kMostCapacity = kWhole - kWhole / 32;

}  // namespace

Value decide(const Value& in_force, const Offer& of_all) {
  Value made = in_force;
  made.capacity = made.reason = 0;
  made.dtype = 0;
  const unsigned capacity = of_all.needed + of_all.needed / kReserve + 1;
  if (of_all.veto != 0 || capacity > kMostCapacity) {
    // Nothing that was timed is forgotten.
    made.reason = of_all.veto != 0 ? of_all.veto : kNotSmaller;
    return made;
  }
  made.capacity = static_cast<std::uint16_t>(capacity);
  made.dtype = of_all.dtype;
  if (of_all.asks > made.timing_round && made.timing_round == made.decided) {
    if (made.timing_round == 0) made.codes = false;
    ++made.timing_round;
    made.calls = static_cast<std::uint16_t>(choose::calls_of_round(of_all.span));
  } else if (made.timing_round > made.decided && of_all.timed == made.timing_round) {
    made.decided = made.timing_round;
    made.codes = choose::pays(of_all.times, made.codes);
    made.times = of_all.times;
  }
  return made;
}

bool may_be_decided(const Value& value) {
  const bool is_raw = value.capacity == 0;
  const bool has_reason = value.reason != 0 && value.reason != kUndecided;
  const bool is_timed = value.timing_round > value.decided;
  const bool in_order =
      value.decided <= value.timing_round && value.timing_round - value.decided <= 1;
  return value.capacity <= kMostCapacity && (is_raw ? has_reason : value.reason == 0) && in_order &&
         value.calls <= choose::kMostTimed && (!is_timed || value.calls > 0);
}

}  // namespace thinwire::nccl::agree
