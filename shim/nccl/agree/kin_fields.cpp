#include "agree/message_fields.h"

namespace thinwire::nccl::agree {

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

namespace {

bool take_says(FieldReader& from, Says& says) {
  const auto value = from.take<std::uint8_t>();
  says = static_cast<Says>(value);
  return value <= static_cast<std::uint8_t>(Says::kWaits);
}

}  // namespace

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

namespace {

template <std::size_t kIndex = 0>
bool take_said(std::size_t index, FieldReader& from, Joined& it) {
  if constexpr (kIndex < std::variant_size_v<decltype(it.said)>) {
    if (index != kIndex) return take_said<kIndex + 1>(index, from, it);
    return take(from, it.said.emplace<kIndex>());
  } else {
    return false;
  }
}

}  // namespace

bool take(FieldReader& from, Joined& it) {
  it.to = from.take<std::uint32_t>();
  it.tag = from.take<std::uint64_t>();
  const auto index = from.take<std::uint8_t>();
  return it.to <= kMostRank && take_said(index, from, it);
}

}  // namespace thinwire::nccl::agree
