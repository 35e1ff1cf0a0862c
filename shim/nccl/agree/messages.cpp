#include "agree/messages.h"

#include <cstring>

#include "agree/message_fields.h"

namespace thinwire::nccl::agree {

void put(FieldWriter& to, const Table& it) {
  to.put(static_cast<std::uint32_t>(it.places.size()));
  for (const Place& each : it.places) {
    to.put(each.rank).put(each.node);
    put_address(to, each.address);
  }
}
bool take(FieldReader& from, Table& it) {
  constexpr std::size_t kPlaceBytes = 8 + kAddressBytes;
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

namespace {

constexpr char kMark[8] = {'t', 'h', 'i', 'n', 'w', 'i', 'r', 'e'};

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

void put(FieldWriter&, const Leaving&) {}
bool take(FieldReader&, Leaving&) { return true; }
void put(FieldWriter&, const Gone&) {}
bool take(FieldReader&, Gone&) { return true; }

void put(FieldWriter&, const Left&) {}
bool take(FieldReader&, Left&) { return true; }

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
