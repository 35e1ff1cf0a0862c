#include "frame/delta.h"

#include "base/checksum.h"

namespace thinwire::frame {
namespace {

// Offsets of spec/delta.md.
constexpr std::size_t kReferenceAt = 8;
constexpr std::size_t kReferenceSumAt = 16;
constexpr std::size_t kChecksumAt = 24;

constexpr std::uint64_t kDeltaWord = 0x61746C6564207774u;  // "tw delta"
constexpr std::uint64_t kFrameWord = 0x656D617266207774u;  // "tw frame"

// Differs from the first word of frames under the same mark, so that who knows no delta packets
// refuses them.
std::uint64_t first_word(const Mark& mark) { return mark.word[0] ^ kFrameWord ^ kDeltaWord; }

}  // namespace

bool is_delta(ByteView bytes, const Mark& mark) {
  return bytes.size() >= sizeof(std::uint64_t) &&
         load<std::uint64_t>(bytes.data()) == first_word(mark);
}

void pack_delta(const Delta& delta, const Mark& mark, std::byte* out) {
  store(out, first_word(mark));
  store(out + kReferenceAt, delta.reference);
  store(out + kReferenceSumAt, delta.checksum);
  store(out + kChecksumAt, checksum({out, kChecksumAt}));
}

Result<Delta> unpack_delta(ByteView bytes, const Mark& mark) {
  if (!is_delta(bytes, mark)) {
    return {StatusCode::kNotAFrame, "these bytes are not a delta packet"};
  }
  if (bytes.size() < kDeltaBytes) return {StatusCode::kDamaged, "delta packet: cut short"};
  const std::byte* const at = bytes.data();
  if (load<std::uint64_t>(at + kChecksumAt) != checksum({at, kChecksumAt})) {
    return {StatusCode::kDamaged, "delta packet: checksum mismatch"};
  }
  return Delta{load<std::uint64_t>(at + kReferenceAt), load<std::uint64_t>(at + kReferenceSumAt)};
}

}  // namespace thinwire::frame
