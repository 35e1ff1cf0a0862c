#include "agree/messages.h"

#include <cstring>

namespace thinwire::nccl::agree {
namespace {

constexpr char kMark[8] = {'t', 'h', 'i', 'n', 'w', 'i', 'r', 'e'};
constexpr std::size_t kPlaceBytes = 8 + kAddressBytes;
constexpr std::uint32_t kMostRank = 0x7FFFFFFF;  // NCCL's ranks are ints

// A flag is 0 or 1.
bool take_flag(FieldReader& from, bool& flag) {
  const auto value = from.take<std::uint8_t>();
  flag = value != 0;
  return value <= 1;
}

void put(FieldWriter& to, const Register& it) {
  put_address(to, it.listens);
  to.put(it.host).put(it.domain);
  to.put_text(it.terms);
}
bool take(FieldReader& from, Register& it) {
  it.listens = take_address(from);
  it.host = from.take<std::uint64_t>();
  it.domain = from.take<std::uint64_t>();
  it.terms = from.take_text();
  return true;
}

void put(FieldWriter&, const Join&) {}
bool take(FieldReader&, Join&) { return true; }
void put(FieldWriter&, const Pair&) {}
bool take(FieldReader&, Pair&) { return true; }

void put(FieldWriter& to, const Decision& it) {
  to.put(static_cast<std::uint8_t>(it.ready)).put_text(it.text);
}
bool take(FieldReader& from, Decision& it) {
  const bool sound = take_flag(from, it.ready);
  it.text = from.take_text();
  return sound;
}

void put(FieldWriter& to, const Table& it) {
  to.put(static_cast<std::uint32_t>(it.places.size()));
  for (const Place& each : it.places) {
    to.put(each.rank).put(each.node);
    put_address(to, each.address);
  }
}
bool take(FieldReader& from, Table& it) {
  const auto count = from.take<std::uint32_t>();
  if (std::uint64_t{count} * kPlaceBytes != from.left()) return false;
  it.places.resize(count);
  for (Place& each : it.places) {
    each.rank = from.take<std::uint32_t>();
    each.node = from.take<std::uint32_t>();
    each.address = take_address(from);
  }
  return true;
}

void put(FieldWriter& to, const Up& it) {
  to.put(static_cast<std::uint8_t>(it.well)).put_text(it.text);
}
bool take(FieldReader& from, Up& it) {
  const bool sound = take_flag(from, it.well);
  it.text = from.take_text();
  return sound;
}

void put(FieldWriter& to, const Ready& it) {
  for (std::size_t at = 0; at < it.addresses.size(); ++at) {
    put_address(to, it.addresses[at]);
    to.put(it.nodes.at(at));
  }
}
bool take(FieldReader& from, Ready& it) {
  constexpr std::size_t kBytes = kAddressBytes + sizeof(std::uint32_t);
  if (from.left() == 0 || from.left() % kBytes != 0) return false;
  while (from.left() > 0) {
    it.addresses.push_back(take_address(from));
    it.nodes.push_back(from.take<std::uint32_t>());
  }
  return true;
}

void put(FieldWriter& to, const Failed& it) { to.put_text(it.text); }
bool take(FieldReader& from, Failed& it) {
  it.text = from.take_text();
  return true;
}

void put(FieldWriter& to, const Offered& it) {
  to.put(it.key).put(it.offer.needed).put(it.offer.veto);
  to.put(it.offer.asks).put(it.offer.span).put(it.offer.timed);
  to.put(it.offer.raw_ns).put(it.offer.coded_ns);
  to.put(it.offer.raw_mean_ns).put(it.offer.coded_mean_ns).put(it.offer.dtype);
}
bool take(FieldReader& from, Offered& it) {
  it.key = from.take<std::uint64_t>();
  for (std::uint16_t* const each :
       {&it.offer.needed, &it.offer.veto, &it.offer.asks, &it.offer.span, &it.offer.timed}) {
    *each = from.take<std::uint16_t>();
  }
  it.offer.raw_ns = from.take<std::uint64_t>();
  it.offer.coded_ns = from.take<std::uint64_t>();
  it.offer.raw_mean_ns = from.take<std::uint64_t>();
  it.offer.coded_mean_ns = from.take<std::uint64_t>();
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
  to.put(static_cast<std::uint8_t>(it.value.codes)).put(it.value.raw_ns).put(it.value.coded_ns);
  to.put(it.value.raw_mean_ns).put(it.value.coded_mean_ns);
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
  it.value.raw_ns = from.take<std::uint64_t>();
  it.value.coded_ns = from.take<std::uint64_t>();
  it.value.raw_mean_ns = from.take<std::uint64_t>();
  it.value.coded_mean_ns = from.take<std::uint64_t>();
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

void put(FieldWriter&, const Leaving&) {}
bool take(FieldReader&, Leaving&) { return true; }
void put(FieldWriter&, const Gone&) {}
bool take(FieldReader&, Gone&) { return true; }

void put(FieldWriter&, const Left&) {}
bool take(FieldReader&, Left&) { return true; }

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

void put(FieldWriter& to, const Enrol& it) {
  to.put(it.split).put(it.color).put(it.from).put(it.rank).put(it.ranks);
  to.put(it.host).put(it.domain);
  to.put(static_cast<std::uint8_t>(it.failed)).put_text(it.text);
}
bool take(FieldReader& from, Enrol& it) {
  it.split = from.take<std::uint64_t>();
  it.color = from.take<std::int32_t>();
  for (std::uint32_t* const each : {&it.from, &it.rank, &it.ranks}) {
    *each = from.take<std::uint32_t>();
  }
  it.host = from.take<std::uint64_t>();
  it.domain = from.take<std::uint64_t>();
  const bool sound = take_flag(from, it.failed);
  it.text = from.take_text();
  return sound && it.color >= 0 && it.ranks <= kMostRank && it.rank < it.ranks;
}

bool take_says(FieldReader& from, Says& says) {
  const auto value = from.take<std::uint8_t>();
  says = static_cast<Says>(value);
  return value <= static_cast<std::uint8_t>(Says::kWaits);
}

void put(FieldWriter& to, const Word& it) {
  to.put(it.to).put(it.split).put(it.color).put(static_cast<std::uint8_t>(it.says));
  to.put_text(it.text);
  put(to, it.table);
}
bool take(FieldReader& from, Word& it) {
  it.to = from.take<std::uint32_t>();
  it.split = from.take<std::uint64_t>();
  it.color = from.take<std::int32_t>();
  const bool sound = take_says(from, it.says);
  it.text = from.take_text();
  return sound && take(from, it.table) && it.to <= kMostRank;
}

void put(FieldWriter& to, const Call& it) {
  to.put(static_cast<std::uint8_t>(it.says)).put_text(it.text);
}
bool take(FieldReader& from, Call& it) {
  const bool sound = take_says(from, it.says);
  it.text = from.take_text();
  return sound && it.says != Says::kReady;
}

void put(FieldWriter& to, const Hello& it) {
  to.put(std::as_bytes(std::span(kMark))).put(it.version).put(ByteView(it.name));
  to.put(it.speaker).put(it.number).put(static_cast<std::uint8_t>(it.child_of.has_value()));
  if (it.child_of) {
    to.put(ByteView(it.child_of->parent)).put(it.child_of->split).put(it.child_of->color);
  }
  to.put(ByteView(it.nonce));
}
bool take(FieldReader& from, Hello& it) {
  const auto mark = from.take_array<sizeof kMark>();
  it.version = from.take<std::uint16_t>();
  it.name = from.take_array<16>();
  it.speaker = from.take<std::uint32_t>();
  it.number = from.take<std::uint32_t>();
  bool child = false;
  const bool sound = take_flag(from, child);
  if (child) {
    ChildOf& of = it.child_of.emplace();
    of.parent = from.take_array<16>();
    of.split = from.take<std::uint64_t>();
    of.color = from.take<std::int32_t>();
  }
  it.nonce = from.take_array<16>();
  return sound && std::memcmp(mark.data(), kMark, sizeof kMark) == 0 && it.speaker <= kMostRank &&
         it.number <= kMostRank;
}

void put(FieldWriter& to, const Challenge& it) {
  to.put(ByteView(it.nonce)).put(ByteView(it.proof));
}
bool take(FieldReader& from, Challenge& it) {
  it.nonce = from.take_array<16>();
  it.proof = from.take_array<16>();
  return true;
}

void put(FieldWriter& to, const Proven& it) { to.put(ByteView(it.proof)); }
bool take(FieldReader& from, Proven& it) {
  it.proof = from.take_array<16>();
  return true;
}

void put(FieldWriter& to, const Lost& it) { to.put_text(it.text); }
bool take(FieldReader& from, Lost& it) {
  it.text = from.take_text();
  return true;
}

void put(FieldWriter& to, const Kin& it) {
  to.put(it.from).put(it.tag).put(it.split).put(it.alike);
  to.put(it.rank).put(it.ranks).put(it.layout).put(it.siblings);
}
bool take(FieldReader& from, Kin& it) {
  it.from = from.take<std::uint32_t>();
  it.tag = from.take<std::uint64_t>();
  it.split = from.take<std::uint64_t>();
  it.alike = from.take<std::uint64_t>();
  it.rank = from.take<std::uint32_t>();
  it.ranks = from.take<std::uint32_t>();
  it.layout = from.take<std::uint64_t>();
  it.siblings = from.take<std::uint32_t>();
  return it.from <= kMostRank && it.ranks <= kMostRank && (it.tag == 0 || it.rank < it.ranks);
}

void put(FieldWriter& to, const NoKin& it) { to.put(it.from).put(it.tag); }
bool take(FieldReader& from, NoKin& it) {
  it.from = from.take<std::uint32_t>();
  it.tag = from.take<std::uint64_t>();
  return it.from <= kMostRank;
}

void put(FieldWriter& to, const Siblings& it) {
  to.put(it.to).put(it.tag).put(static_cast<std::uint8_t>(it.known));
}
bool take(FieldReader& from, Siblings& it) {
  it.to = from.take<std::uint32_t>();
  it.tag = from.take<std::uint64_t>();
  return take_flag(from, it.known) && it.to <= kMostRank;
}

void put(FieldWriter& to, const Joined& it) {
  to.put(it.to).put(it.tag).put(static_cast<std::uint8_t>(it.said.index()));
  std::visit([&](const auto& said) { put(to, said); }, it.said);
}
template <std::size_t kIndex = 0>
bool take_said(std::size_t index, FieldReader& from, Joined& it) {
  if constexpr (kIndex < std::variant_size_v<decltype(it.said)>) {
    if (index != kIndex) return take_said<kIndex + 1>(index, from, it);
    return take(from, it.said.emplace<kIndex>());
  } else {
    return false;
  }
}
bool take(FieldReader& from, Joined& it) {
  it.to = from.take<std::uint32_t>();
  it.tag = from.take<std::uint64_t>();
  const auto index = from.take<std::uint8_t>();
  return it.to <= kMostRank && take_said(index, from, it);
}

template <std::size_t kIndex = 0>
std::optional<Message> take_kind(std::size_t index, FieldReader& from) {
  if constexpr (kIndex < std::variant_size_v<Message>) {
    if (index != kIndex) return take_kind<kIndex + 1>(index, from);
    std::variant_alternative_t<kIndex, Message> it;
    if (!take(from, it) || !from.done()) return std::nullopt;
    return Message(std::move(it));
  } else {
    return std::nullopt;
  }
}

}  // namespace

Bytes pack(const Message& message, Bytes room) {
  FieldWriter fields(std::move(room));
  fields.put(std::uint32_t{0}).put(static_cast<std::uint8_t>(message.index() + 1));
  std::visit([&](const auto& it) { put(fields, it); }, message);
  const auto length = static_cast<std::uint32_t>(fields.bytes().size() - kLengthBytes);
  std::memcpy(fields.bytes().data(), &length, sizeof length);
  return std::move(fields.bytes());
}

std::optional<Message> parse(ByteView bytes) {
  FieldReader fields(bytes);
  const auto kind = fields.take<std::uint8_t>();
  if (!fields.good() || kind == 0) return std::nullopt;
  return take_kind(kind - 1U, fields);
}

}  // namespace thinwire::nccl::agree
