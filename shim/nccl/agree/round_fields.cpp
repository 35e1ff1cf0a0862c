#include "agree/message_fields.h"

namespace thinwire::nccl::agree {
namespace {

void put(FieldWriter& to, const choose::RoundTimes& times) {
  to.put(times.raw).put(times.coded).put(times.raw_mean).put(times.coded_mean);
}
void take(FieldReader& from, choose::RoundTimes& times) {
  for (std::uint64_t* const each : {&times.raw, &times.coded, &times.raw_mean, &times.coded_mean}) {
    *each = from.take<std::uint64_t>();
  }
}

}  // namespace

void put(FieldWriter& to, const Offered& it) {
  to.put(it.key).put(it.offer.needed).put(it.offer.veto);
  to.put(it.offer.asks).put(it.offer.span).put(it.offer.timed);
  put(to, it.offer.times);
  to.put(it.offer.dtype);
}
bool take(FieldReader& from, Offered& it) {
  it.key = from.take<std::uint64_t>();
  for (std::uint16_t* const each :
       {&it.offer.needed, &it.offer.veto, &it.offer.asks, &it.offer.span, &it.offer.timed}) {
    *each = from.take<std::uint16_t>();
  }
  take(from, it.offer.times);
  it.offer.dtype = from.take<std::uint8_t>();
  return true;
}

// Flags of an ask that looks and of one that is urgent; neither: a round as others.
constexpr std::uint8_t kUrgentAsk = 1, kLook = 2;

void put(FieldWriter& to, const Ask& it) {
  const std::uint8_t way = it.looks ? kLook : it.is_urgent ? kUrgentAsk : 0;
  to.put(it.key).put(it.round).put(way);
}
bool take(FieldReader& from, Ask& it) {
  it.key = from.take<std::uint64_t>();
  it.round = from.take<std::uint64_t>();
  const auto way = from.take<std::uint8_t>();
  it.is_urgent = way == kUrgentAsk;
  it.looks = way == kLook;
  return way <= kLook;
}

void put(FieldWriter& to, const Limit& it) { to.put(it.key).put(it.round).put(it.limit); }
bool take(FieldReader& from, Limit& it) {
  it.key = from.take<std::uint64_t>();
  it.round = from.take<std::uint64_t>();
  it.limit = from.take<std::uint64_t>();
  return true;
}

void put(FieldWriter& to, const Commit& it) {
  to.put(it.key).put(it.round).put(it.from).put(it.value.capacity).put(it.value.reason);
  to.put(it.value.timing_round).put(it.value.decided).put(it.value.calls);
  to.put(static_cast<std::uint8_t>(it.value.codes));
  put(to, it.value.times);
  to.put(it.value.dtype);
}
bool take(FieldReader& from, Commit& it) {
  it.key = from.take<std::uint64_t>();
  it.round = from.take<std::uint64_t>();
  it.from = from.take<std::uint64_t>();
  for (std::uint16_t* const each : {&it.value.capacity, &it.value.reason, &it.value.timing_round,
                                    &it.value.decided, &it.value.calls}) {
    *each = from.take<std::uint16_t>();
  }
  const bool sound = take_flag(from, it.value.codes);
  take(from, it.value.times);
  it.value.dtype = from.take<std::uint8_t>();
  return sound;
}

void put(FieldWriter& to, const Part& it) {
  to.put(static_cast<std::uint32_t>(it.block.from))
      .put(static_cast<std::uint8_t>(it.block.of_pair));
  to.put(it.block.call).put(it.block.number).put(it.total).put(it.offset).put(it.bytes);
}
bool take(FieldReader& from, Part& it) {
  const auto rank = from.take<std::uint32_t>();
  const bool sound = take_flag(from, it.block.of_pair);
  it.block.from = static_cast<int>(rank);
  it.block.call = from.take<std::uint64_t>();
  it.block.number = from.take<std::uint32_t>();
  it.total = from.take<std::uint64_t>();
  it.offset = from.take<std::uint64_t>();
  it.bytes = from.rest();
  return sound && rank <= kMostRank && it.offset <= it.total &&
         it.bytes.size() <= it.total - it.offset;
}

void put(FieldWriter& to, const Broken& it) { to.put_text(it.text); }
bool take(FieldReader& from, Broken& it) {
  it.text = from.take_text();
  return true;
}

void put(FieldWriter& to, const Took& it) { to.put(it.count); }
bool take(FieldReader& from, Took& it) {
  it.count = from.take<std::uint64_t>();
  return true;
}

void put(FieldWriter& to, const Rest& it) { to.put(it.count); }
bool take(FieldReader& from, Rest& it) {
  it.count = from.take<std::uint64_t>();
  return true;
}

void put(FieldWriter& to, const Again& it) {
  to.put(static_cast<std::uint8_t>(it.of_pair)).put(static_cast<std::uint8_t>(it.makes));
  to.put(it.taken);
}
bool take(FieldReader& from, Again& it) {
  const bool sound = take_flag(from, it.of_pair);
  const bool whole = take_flag(from, it.makes) && sound;
  it.taken = from.take<std::uint64_t>();
  return whole;
}

void put(FieldWriter& to, const Carried& it) {
  to.put(it.to);
  put(to, it.part);
}
bool take(FieldReader& from, Carried& it) {
  it.to = from.take<std::uint32_t>();
  return take(from, it.part) && it.to <= kMostRank;
}

void put(FieldWriter& to, const Waiting& it) { to.put_text(it.text); }
bool take(FieldReader& from, Waiting& it) {
  it.text = from.take_text();
  return true;
}

void put(FieldWriter& to, const Lost& it) { to.put_text(it.text); }
bool take(FieldReader& from, Lost& it) {
  it.text = from.take_text();
  return true;
}

}  // namespace thinwire::nccl::agree
