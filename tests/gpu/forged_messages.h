// Slots, and what ranks say of differences, with something wrong in them under right checksums.
#pragma once

#include "fuzz/all_targets.h"
#include "fuzz/input.h"
#include "slot/slot.h"

namespace thinwire::collective {

inline constexpr std::uint64_t kDifferenceMark = 0x0166666964207774u;  // "tw diff", version 1

// Changes up to three of the words between the mark and the checksum, mostly to numbers near what
// they were.
inline void forge_words(fuzz::Random& random, slot::SlotWords& words) {
  for (std::uint64_t times = 1 + random.below(3); times > 0; --times) {
    std::uint64_t& word = words.word[1 + random.below(slot::kSlotWords - 2)];
    switch (random.below(4)) {
      case 0:
        word += 1 + random.below(3);
        break;
      case 1:
        word -= 1 + random.below(3);
        break;
      case 2:
        word ^= std::uint64_t{1} << random.below(64);
        break;
      default:
        word = random.below(2) == 0 ? 0 : ~std::uint64_t{0};
    }
  }
}

// The frame of a slot: a byte or some of it, sealed again as it is found then.
inline void forge_frame(fuzz::Random& random, MutableByteView frame, const frame::Mark& mark) {
  if (frame.empty()) return;
  for (std::uint64_t times = 1 + random.below(3); times > 0; --times) {
    // After the mark in one of four: what has none is refused at the first look.
    const std::uint64_t header = std::min<std::uint64_t>(frame.size(), frame::kFixedHeaderBytes);
    const bool in_header = random.below(4) == 0 || header == frame.size();
    const std::uint64_t at = in_header ? std::min<std::uint64_t>(16, header - 1) : header;
    const std::uint64_t end = in_header ? header : frame.size();
    frame[at + random.below(end - at)] ^= static_cast<std::byte>(1 + random.below(255));
  }
  if (random.below(16) != 0) fuzz::reseal(frame, mark, random.below(16) == 0);
}

// Forges what goes from a rank to another: two of three messages are changed, the same ones for the
// same seed.
inline void forge(std::uint64_t seed, const frame::Mark& mark, MutableByteView message, int from,
                  int to, int number) {
  fuzz::Random random(seed * 0x9E3779B97F4A7C15u +
                      static_cast<std::uint64_t>((from * 64 + to) * 64 + number));
  for (int skipped = 0; skipped < 4; ++skipped) random.next();
  if (message.size() < slot::kSlotHeaderBytes || random.below(3) == 0) return;
  auto words = load<slot::SlotWords>(message.data());
  if (words.word[0] != slot::kSlotMark && words.word[0] != kDifferenceMark) return;
  const bool is_slot = words.word[0] == slot::kSlotMark;
  const std::uint64_t bytes = slot::frame_bytes_of(words);
  if (is_slot && bytes <= message.size() - slot::kSlotHeaderBytes && random.below(4) != 0) {
    forge_frame(random, message.subspan(slot::kSlotHeaderBytes, bytes), mark);
    return;
  }
  forge_words(random, words);
  if (random.below(8) != 0) words.word[slot::kSlotWords - 1] = slot::slot_checksum(words);
  store(message.data(), words);
}

}  // namespace thinwire::collective
