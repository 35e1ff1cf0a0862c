// The header of a slot, of spec/slot.md; the same on host and device.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/host_device.h"
#include "slot/factor.h"

namespace thinwire::slot {

enum class SlotKind : std::uint64_t { kFrame = 1, kSpilled = 2, kLost = 3 };

inline constexpr std::uint64_t kSlotHeaderBytes = 64;
inline constexpr std::uint64_t kSlotFactorAt = 48;    // in the header
inline constexpr std::uint64_t kSlotUnit = 512;       // slots are multiples of it
inline constexpr std::uint64_t kWholeCapacity = 512;  // a capacity as large as the values
inline constexpr std::uint64_t kSlotMark = 0x04746F6C73207774u;  // "tw slot", version 4

// The purpose of a slot: what its reader expects.
struct SlotTag {
  std::uint64_t call = 0;
  std::uint64_t block = 0;
  std::uint64_t raw_bytes = 0;
  SlotFactor factor{};  // its writer's; of a reader whether there is one
};

inline constexpr int kSlotWords = kSlotHeaderBytes / 8;

// A header as it lies in memory.
struct SlotWords {
  std::uint64_t word[kSlotWords];
};

THINWIRE_HOST_DEVICE constexpr std::uint64_t slot_checksum(const SlotWords& words) {
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at + 1 < kSlotWords; ++at) {
    sum += checksum_product(words.word[at], checksum_key(at));
  }
  return checksum_finish(kSlotHeaderBytes - 8, sum);
}

THINWIRE_HOST_DEVICE inline SlotWords sealed_slot(const SlotTag& tag, SlotKind kind,
                                                  std::uint64_t frame_bytes) {
  SlotWords words{{kSlotMark, tag.call, tag.block, static_cast<std::uint64_t>(kind), frame_bytes,
                   tag.raw_bytes, factor_word(tag.factor), 0}};
  words.word[kSlotWords - 1] = slot_checksum(words);
  return words;
}

// Whether it is a header of that slot, whose frame, if any, fits `slot_bytes`.
THINWIRE_HOST_DEVICE constexpr bool is_slot_of(const SlotWords& words, const SlotTag& tag,
                                               std::uint64_t slot_bytes) {
  const std::uint64_t kind = words.word[3], frame_bytes = words.word[4];
  const bool framed = kind == static_cast<std::uint64_t>(SlotKind::kFrame);
  return words.word[0] == kSlotMark && words.word[1] == tag.call && words.word[2] == tag.block &&
         kind >= 1 && kind <= 3 && words.word[5] == tag.raw_bytes &&
         (tag.factor.exists || words.word[6] == 0) &&
         words.word[kSlotWords - 1] == slot_checksum(words) &&
         (framed ? frame_bytes > 0 && frame_bytes <= slot_bytes - kSlotHeaderBytes
                 : frame_bytes == 0);
}

THINWIRE_HOST_DEVICE constexpr SlotKind kind_of(const SlotWords& words) {
  return static_cast<SlotKind>(words.word[3]);
}
THINWIRE_HOST_DEVICE constexpr std::uint64_t frame_bytes_of(const SlotWords& words) {
  return words.word[4];
}

// Bytes of a slot of blocks of `raw_bytes` at that capacity.
constexpr std::uint64_t slot_bytes(std::uint64_t raw_bytes, std::uint32_t capacity) {
  const std::uint64_t whole = raw_bytes / kWholeCapacity * capacity;
  const std::uint64_t rest = ceil_div(raw_bytes % kWholeCapacity * capacity, kWholeCapacity);
  const std::uint64_t units = ceil_div(whole + rest, kSlotUnit);
  return (units > 0 ? units : 1) * kSlotUnit;
}

// So many bytes of a spilled block, its first ones, are in the slot: it travels in any case. The
// others go by the mailbox.
THINWIRE_HOST_DEVICE constexpr std::uint64_t bytes_inside(std::uint64_t raw_bytes,
                                                          std::uint64_t slot_bytes) {
  const std::uint64_t room = slot_bytes - kSlotHeaderBytes;
  return raw_bytes < room ? raw_bytes : room;
}

// A capacity at which a frame fits, whatever multiple of it a slot is rounded up to;
// kWholeCapacity + 1 if it would not be smaller than the values.
constexpr std::uint32_t needed_capacity(std::uint64_t raw_bytes, std::uint64_t frame_bytes) {
  const std::uint64_t bytes = kSlotHeaderBytes + frame_bytes;
  if (bytes > raw_bytes) return kWholeCapacity + 1;
  return static_cast<std::uint32_t>(ceil_div(bytes * kWholeCapacity, raw_bytes));
}

}  // namespace thinwire::slot
