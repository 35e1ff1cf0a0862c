#include "agree/unique_id.h"

#include <algorithm>
#include <cstring>

namespace thinwire::nccl::agree {
namespace {

constexpr std::size_t kNcclAddressAt = 8;
constexpr std::size_t kNcclAddressBytes = 28;
constexpr std::size_t kStampAt = 72;
constexpr std::size_t kCheckedBytes = 52;
constexpr char kStampMark[8] = {'t', 'h', 'i', 'n', 'w', 'i', 'r', 'e'};

std::uint32_t fnv1a(ByteView bytes) {
  std::uint32_t hash = 2166136261U;
  for (const std::byte each : bytes)
    hash = (hash ^ std::to_integer<std::uint32_t>(each)) * 16777619U;
  return hash;
}

}  // namespace

std::optional<Address> room_for_stamp(IdView id) {
  const auto zero = [](std::byte each) { return each == std::byte{0}; };
  if (!std::ranges::all_of(id.subspan(kStampAt), zero)) return std::nullopt;
  return address_of(id.subspan(kNcclAddressAt, kNcclAddressBytes));
}

void write_stamp(std::span<std::byte, kIdBytes> id, const Stamp& stamp) {
  FieldWriter fields;
  fields.put(std::as_bytes(std::span(kStampMark))).put(kVersion).put(std::uint16_t{0});
  fields.put(ByteView(stamp.secret));
  put_address(fields, stamp.registrar);
  fields.put(fnv1a(fields.bytes()));
  std::ranges::copy(fields.bytes(), id.begin() + kStampAt);
}

std::optional<Stamp> read_stamp(IdView id) {
  FieldReader fields(id.subspan(kStampAt));
  const auto mark = fields.take_array<sizeof kStampMark>();
  fields.take<std::uint16_t>();  // versions are compared at the registrar, which tells
  fields.take<std::uint16_t>();
  Stamp stamp;
  stamp.secret = fields.take_array<16>();
  stamp.registrar = take_address(fields);
  const auto sum = fields.take<std::uint32_t>();
  const bool sound = std::memcmp(mark.data(), kStampMark, sizeof kStampMark) == 0 &&
                     sum == fnv1a(id.subspan(kStampAt, kCheckedBytes)) &&
                     (stamp.registrar.family == 4 || stamp.registrar.family == 6);
  return sound ? std::optional(stamp) : std::nullopt;
}

bool is_stamped(IdView id) { return read_stamp(id).has_value(); }

}  // namespace thinwire::nccl::agree
