#include "agree/unique_id.h"

#include <sys/random.h>

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

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27) * 0x94D049BB133111EBU;
  return value ^ value >> 31;
}

}  // namespace

Secret random_secret() {
  Secret made{};
  std::size_t filled = 0;
  while (filled < made.size()) {
    const ssize_t got = getrandom(made.data() + filled, made.size() - filled, 0);
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return made;
}

Secret derive(const Secret& parent, std::uint64_t split, std::int32_t color) {
  std::uint64_t words[2];
  std::memcpy(words, parent.data(), sizeof words);
  for (const std::uint64_t each :
       {split + 1, std::uint64_t{static_cast<std::uint32_t>(color)} + 1}) {
    words[0] = mixed(words[0] + each * 0x9E3779B97F4A7C15U);
    words[1] = mixed(words[1] ^ words[0]);
    words[0] += words[1];
  }
  Secret made{};
  std::memcpy(made.data(), words, sizeof words);
  return made;
}

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
