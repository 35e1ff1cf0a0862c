#include "codec/ans/masks.h"

#include <algorithm>

#include "base/vector_units.h"

namespace thinwire::codec::ans {

THINWIRE_VECTOR_CLONES void find_words(const std::byte* planes, std::uint32_t count,
                                       std::uint32_t apart, std::uint32_t values, std::byte* mask) {
  std::copy_n(planes, values, mask);
  for (std::uint32_t plane = 1; plane < count; ++plane) {
    const std::byte* const own = planes + plane * apart;
    for (std::uint32_t at = 0; at < values; ++at) mask[at] |= own[at];
  }
}

THINWIRE_VECTOR_CLONES void make_quads(const std::byte* mask, std::uint32_t values,
                                       std::byte* quads) {
  const std::uint32_t whole = values / kOfLane;
  for (std::uint32_t quad = 0; quad < whole; ++quad) {
    const auto four = load<std::uint32_t>(mask + kOfLane * quad);
    constexpr std::uint32_t kLow = 0x7f7f7f7fu;
    const std::uint32_t high = (((four & kLow) + kLow) | four) & ~kLow;
    quads[quad] = static_cast<std::byte>(high >> 7 | high >> 14 | high >> 21 | high >> 28) &
                  std::byte{kQuads - 1};
  }
  if (whole * kOfLane == values) return;
  quads[whole] = std::byte{0};
  for (std::uint32_t at = whole * kOfLane; at < values; ++at) {
    if (mask[at] != std::byte{0}) quads[whole] |= std::byte{1} << (at - whole * kOfLane);
  }
}

bool spread_quads(const std::byte* quads, std::uint32_t values, std::byte* mask) {
  std::byte beyond{0};
  for (std::uint32_t quad = 0; quad < quads_of(values); ++quad) {
    const std::uint32_t first = kOfLane * quad, left = std::min(values - first, kOfLane);
    beyond |= quads[quad] >> left;
    for (std::uint32_t each = 0; each < left; ++each) {
      mask[first + each] = quads[quad] >> each & std::byte{1};
    }
  }
  return beyond == std::byte{0};
}

}  // namespace thinwire::codec::ans
