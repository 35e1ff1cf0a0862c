// Results of earlier calls that all ranks of a communicator keep, and that later ones are coded
// against: how they lie in the memory that is lent for them, and how each rank finds one and
// agrees on the place of the next without a word to the others; spec/slot.md. For host and device.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/difference.h"
#include "slot/slot.h"

namespace thinwire::collective {

inline constexpr std::uint64_t kReferenceMark = 0x0166666964207774u;  // "tw diff", version 1
inline constexpr std::uint64_t kNoReference = 0;
inline constexpr std::uint64_t kUnsoundReference = ~std::uint64_t{0};

// Properties that results have alike which may stand for each other.
struct ReferenceKey {
  std::uint64_t what = 0;  // operation, dtype and root
  std::uint64_t block_bytes = 0;
  std::uint64_t blocks = 0;

  // The layout of a result: its blocks without gaps, and a sum of each.
  THINWIRE_HOST_DEVICE constexpr std::uint64_t sums_at() const {
    return aligned(block_bytes * blocks);
  }
  THINWIRE_HOST_DEVICE constexpr std::uint64_t bytes() const {
    return sums_at() + aligned(blocks * sizeof(std::uint64_t));
  }
};

struct ReferenceEntry {
  std::uint64_t what, block_bytes;
  std::uint64_t offset;  // after the table
  std::uint64_t used;    // the last call that found or wrote it, as the clock has it
};

// All of it is zeros at first, and the same on all ranks after the same calls.
inline constexpr std::uint64_t kMostReferences = 255;
struct ReferenceTable {
  std::uint64_t count, end, clock, missed;
  ReferenceEntry entries[kMostReferences];
};
inline constexpr std::uint64_t kReferenceTableBytes = aligned(sizeof(ReferenceTable));

// The memory: a table, and after it what it names.
struct References {
  std::byte* at = nullptr;
  std::uint64_t bytes = 0;

  THINWIRE_HOST_DEVICE ReferenceTable& table() const {
    return *reinterpret_cast<ReferenceTable*>(at);
  }
  // The values of the reference that is called `number`, 1 to the table's count.
  THINWIRE_HOST_DEVICE std::byte* values(std::uint64_t number) const {
    return at + kReferenceTableBytes + table().entries[number - 1].offset;
  }
  THINWIRE_HOST_DEVICE std::uint64_t* sums(const ReferenceKey& key, std::uint64_t number) const {
    return reinterpret_cast<std::uint64_t*>(values(number) + key.sums_at());
  }
};

THINWIRE_HOST_DEVICE inline bool is_of(const ReferenceEntry& entry, const ReferenceKey& key) {
  return entry.what == key.what && entry.block_bytes == key.block_bytes;
}

// The elements that a rank compares of its block with each result: at most so many, spread over all
// of it, at places without a period.
inline constexpr std::uint64_t kReferenceSamples = 256;
THINWIRE_HOST_DEVICE constexpr std::uint64_t sampled_places(std::uint64_t count) {
  return count < kReferenceSamples ? count : kReferenceSamples;
}
THINWIRE_HOST_DEVICE constexpr std::uint64_t sampled_place(std::uint64_t sample,
                                                           std::uint64_t count) {
  if (count <= kReferenceSamples) return sample;
  const std::uint64_t stride = count / kReferenceSamples;
  return sample * stride + checksum_mix(sample) % stride;
}

// Whether differences of so many bits, of `samples` of a width, are worth to be coded: values that
// have nothing to do with each other leave nearly all of their bits, and a frame of the values
// themselves has seldom fewer than 2/3.
THINWIRE_HOST_DEVICE constexpr bool is_near(std::uint64_t bits, std::uint64_t samples,
                                            std::uint64_t width) {
  return 8 * bits <= 5 * samples * width;
}

// The words of a rank about its block: the reference, and the sum of its values of that block.
THINWIRE_HOST_DEVICE inline slot::SlotWords told_reference(std::uint64_t call, std::uint64_t block,
                                                           std::uint64_t number,
                                                           std::uint64_t sum) {
  slot::SlotWords words{{kReferenceMark, call, block, number, sum, 0, 0, 0}};
  words.word[slot::kSlotWords - 1] = slot::slot_checksum(words);
  return words;
}

// The reference that such words name; kUnsoundReference if they are none of this call's, or this
// rank's reference has other values.
THINWIRE_HOST_DEVICE inline std::uint64_t reference_in(const slot::SlotWords& words,
                                                       std::uint64_t call, std::uint64_t block,
                                                       const References& references,
                                                       const ReferenceKey& key) {
  const std::uint64_t number = words.word[3];
  const bool is_sound = words.word[0] == kReferenceMark && words.word[1] == call &&
                        words.word[2] == block &&
                        words.word[slot::kSlotWords - 1] == slot::slot_checksum(words);
  if (!is_sound || number > references.table().count) return kUnsoundReference;
  if (number == kNoReference) return words.word[4] == 0 ? number : kUnsoundReference;
  if (!is_of(references.table().entries[number - 1], key)) return kUnsoundReference;
  return references.sums(key, number)[block] == words.word[4] ? number : kUnsoundReference;
}

// The place of a result: that of `found`, the reference of the first rank that has one; else free
// memory; else that of the result of its kind that was used least lately, unless calls come round
// to all of them. If results find no place for long, all are forgotten.
THINWIRE_HOST_DEVICE inline std::uint64_t place_result(const References& references,
                                                       const ReferenceKey& key,
                                                       std::uint64_t found) {
  ReferenceTable& table = references.table();
  ++table.clock;
  if (found == kNoReference && table.missed > 16 + 4 * table.count) {
    table.count = table.end = table.missed = 0;
  }
  std::uint64_t number = found;
  const std::uint64_t room = references.bytes - kReferenceTableBytes;
  const bool fits = table.end <= room && key.bytes() <= room - table.end;
  if (number == kNoReference && table.count < kMostReferences && fits) {
    number = ++table.count;
    table.entries[number - 1] = {key.what, key.block_bytes, table.end, 0};
    table.end += key.bytes();
  }
  std::uint64_t oldest =
      table.clock - (table.clock < 4 * table.count ? table.clock : 4 * table.count);
  for (std::uint64_t at = 1; number == kNoReference && at <= table.count; ++at) {
    const ReferenceEntry& entry = table.entries[at - 1];
    if (!is_of(entry, key) || entry.used >= oldest) continue;
    oldest = entry.used;
    found = at;
  }
  if (number == kNoReference) number = found;
  if (number == kNoReference) {
    ++table.missed;
  } else {
    table.missed = 0;
    table.entries[number - 1].used = table.clock;
  }
  return number;
}

// A value's share in the sum of its block.
THINWIRE_HOST_DEVICE constexpr std::uint64_t summed(std::uint64_t word, std::uint64_t place) {
  return checksum_product(word, checksum_key(place));
}

}  // namespace thinwire::collective
