#include "codec/ans/v0_payload.h"

#include <algorithm>

#include "codec/ans/models.h"
#include "codec/ans/planes.h"
#include "codec/ans/states.h"
#include "codec/ans/v0_format.h"

namespace thinwire::codec::ans::v0 {
namespace {

Status damaged(const char* what) { return {StatusCode::kDamaged, what}; }

// The planes of a chunk that are not stored, one after the other.
struct Memory {
  alignas(64) std::byte bytes[kChunkBytes];

  std::byte* of(const Planes& planes, std::uint32_t plane) {
    return bytes + (plane == 0 ? 0 : planes.values + (plane - 1) * planes.kept);
  }
};

std::uint32_t size_of(const Planes& planes, std::uint32_t plane) {
  return plane == 0 ? planes.values : planes.kept;
}

// Finds each plane's bytes, and takes the stored planes off `bytes`, where they stay. False if
// `bytes` is too short.
template <typename Word>
bool read_planes(const Models<Word, Slots>& models, ByteView& bytes, Memory& memory,
                 Planes& planes) {
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    std::byte* const own = memory.of(planes, plane);
    const std::uint32_t size = size_of(planes, plane);
    planes.place[plane] = own;
    if (models.is_coded(plane)) {
      if (!models.is_mixed(plane)) std::fill_n(own, size, std::byte{models.of[plane].only_byte()});
      continue;
    }
    if (bytes.size() < filled(size)) return false;
    planes.place[plane] = bytes.data();
    bytes = bytes.subspan(filled(size));
  }
  return true;
}

// Fills a plane, and takes the words that it needs off the end of `words`, before which there are
// the states. False if there are too few.
bool give_back_plane(States& states, MutableByteView plane, const Slots& slots, ByteView& words) {
  const std::byte* const begin = words.data();
  const std::byte* next = begin + words.size();
  for (std::size_t step = ceil_div(plane.size(), kLanes); step-- > 0;) {
    const std::size_t first = step * kLanes;
    std::size_t lane = std::min<std::size_t>(kLanes, plane.size() - first);
    while (lane-- > 0) {
      const std::uint32_t state = slots.back(states[lane], plane[first + lane]);
      // Read always; at most kLanes words too many in a step, which are states.
      const std::uint32_t needs = state < kLeastState;
      const std::uint32_t word = load<std::uint16_t>(next - 2);
      next -= 2 * needs;
      states[lane] = state << (16 * needs) | (word & (0 - needs));
    }
    if (next < begin) return false;
  }
  words = words.first(static_cast<std::size_t>(next - begin));
  return true;
}

// The mixed planes. `bytes` are states and words.
template <typename Word>
bool read_mixed(const Models<Word, Slots>& models, ByteView bytes, const Planes& planes,
                Memory& memory) {
  States states;
  if (!read_states(bytes.data(), states)) return false;
  ByteView words = bytes.subspan(kStateBytes);
  for (std::uint32_t plane = sizeof(Word); plane-- > 0;) {
    if (!models.is_mixed(plane)) continue;
    const MutableByteView own{memory.of(planes, plane), size_of(planes, plane)};
    if (!give_back_plane(states, own, models.numbers[plane], words)) return false;
  }
  return words.empty() && are_least(states);
}

}  // namespace

template <typename Word>
Status decode_values(ByteView encoded, std::uint32_t values, std::uint32_t tuple, std::byte* out) {
  if (encoded.size() < kHeadBytes) return damaged("ans: shorter than its head");
  const auto word = load<std::uint64_t>(encoded.data());
  if (!is_sound<Word>(word, values)) return damaged("ans: its head is none of such a chunk");
  const Head head = unpack(word);
  ByteView bytes = encoded.subspan(kHeadBytes);
  Models<Word, Slots> models;
  if (!read_models(head.coded, bytes, models)) return damaged("ans: a table is none");
  Memory memory;
  Planes planes{.place = {}, .values = values, .kept = head.kept, .is_sparse = head.is_sparse};
  if (!read_planes(models, bytes, memory, planes)) return damaged("ans: shorter than its planes");
  const bool has_states = models.sets.mixed != 0;
  if (bytes.size() != (has_states ? kStateBytes : 0) + std::size_t{2} * head.words ||
      (!has_states && head.words != 0)) {
    return damaged("ans: its length is not what its head says");
  }
  if (has_states && !read_mixed(models, bytes, planes, memory)) {
    return damaged("ans: its words are no planes");
  }
  if (!join<Word>(planes, tuple, out)) return damaged("ans: its planes are of other lengths");
  return {};
}

#define THINWIRE_WORD(Word, name) \
  template Status decode_values<Word>(ByteView, std::uint32_t, std::uint32_t, std::byte*);
THINWIRE_ANS_WORDS(THINWIRE_WORD)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans::v0
