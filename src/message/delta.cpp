#include "message/delta.h"

#include <bit>

#include "base/checksum.h"
#include "base/difference.h"
#include "base/vector_units.h"

namespace thinwire::message {
namespace {

template <typename Word>
void take(std::uint64_t bytes, const std::byte* values, const std::byte* reference,
          std::byte* out) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof(Word)) {
    store(out + at, folded_difference(load<Word>(values + at), load<Word>(reference + at)));
  }
}

template <typename Word>
void add(std::uint64_t bytes, const std::byte* reference, std::byte* values) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof(Word)) {
    store(values + at, unfolded_sum(load<Word>(values + at), load<Word>(reference + at)));
  }
}

template <typename Word>
std::uint64_t bits(std::uint64_t bytes, const std::byte* a, const std::byte* b) {
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < bytes; at += sizeof(Word)) {
    const Word folded = folded_difference(load<Word>(a + at), load<Word>(b + at));
    sum += static_cast<std::uint64_t>(std::bit_width(folded));
  }
  return sum;
}

// Clones cannot be templates.
#define THINWIRE_DIFFERENCES(Word)                                                        \
  THINWIRE_VECTOR_CLONES void take_##Word(std::uint64_t bytes, const std::byte* values,   \
                                          const std::byte* reference, std::byte* out) {   \
    take<std::Word>(bytes, values, reference, out);                                       \
  }                                                                                       \
  THINWIRE_VECTOR_CLONES void add_##Word(std::uint64_t bytes, const std::byte* reference, \
                                         std::byte* values) {                             \
    add<std::Word>(bytes, reference, values);                                             \
  }
THINWIRE_DIFFERENCES(uint8_t)
THINWIRE_DIFFERENCES(uint16_t)
THINWIRE_DIFFERENCES(uint32_t)
THINWIRE_DIFFERENCES(uint64_t)
#undef THINWIRE_DIFFERENCES

}  // namespace

void take_difference(Dtype dtype, std::uint64_t bytes, const std::byte* values,
                     const std::byte* reference, std::byte* out) {
  switch (dtype_size(dtype)) {
    case 8:
      return take_uint64_t(bytes, values, reference, out);
    case 4:
      return take_uint32_t(bytes, values, reference, out);
    case 2:
      return take_uint16_t(bytes, values, reference, out);
    default:
      return take_uint8_t(bytes, values, reference, out);
  }
}

void add_difference(Dtype dtype, std::uint64_t bytes, const std::byte* reference,
                    std::byte* values) {
  switch (dtype_size(dtype)) {
    case 8:
      return add_uint64_t(bytes, reference, values);
    case 4:
      return add_uint32_t(bytes, reference, values);
    case 2:
      return add_uint16_t(bytes, reference, values);
    default:
      return add_uint8_t(bytes, reference, values);
  }
}

std::uint64_t difference_bits(Dtype dtype, std::uint64_t bytes, const std::byte* a,
                              const std::byte* b) {
  switch (dtype_size(dtype)) {
    case 8:
      return bits<std::uint64_t>(bytes, a, b);
    case 4:
      return bits<std::uint32_t>(bytes, a, b);
    case 2:
      return bits<std::uint16_t>(bytes, a, b);
    default:
      return bits<std::uint8_t>(bytes, a, b);
  }
}

Status decode_delta(ByteView packet, const codec::Chunk& array, const Reference& reference,
                    const frame::Mark& mark, std::byte* destination) {
  const auto delta = frame::unpack_delta(packet, mark);
  if (!delta.ok()) return delta.status();
  if (reference.values == nullptr || delta->reference != reference.number) {
    return {StatusCode::kDamaged, "a delta packet names a reference that was not agreed on"};
  }
  const std::uint64_t bytes = array.raw_bytes();
  if (checksum({reference.values, bytes}) != delta->checksum) {
    return {StatusCode::kDamaged, "the reference of a delta packet is not what its sender had"};
  }
  const ByteView frame = packet.subspan(frame::kDeltaBytes);
  const auto info = inspect(frame, mark);
  if (!info.ok()) return info.status();
  if (info->header.dtype != array.dtype || !(info->header.shape == array.shape)) {
    return {StatusCode::kDamaged, "a delta packet of another array came in the place of a piece"};
  }
  if (!info->codec->lossless) {
    return {StatusCode::kDamaged, "a delta packet holds a frame of a lossy codec"};
  }
  const Status decoded = decode(frame, {destination, bytes}, mark).status();
  if (decoded.ok()) add_difference(array.dtype, bytes, reference.values, destination);
  return decoded;
}

}  // namespace thinwire::message
