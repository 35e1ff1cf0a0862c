#include "codec/ans/states.h"

#include <algorithm>

namespace thinwire::codec::ans {
namespace {

std::byte* take_plane(States& states, ByteView plane, const Steps& steps, std::byte* out,
                      const std::byte* end) {
  for (std::size_t first = 0; first < plane.size(); first += kLanes) {
    const std::size_t lanes = std::min<std::size_t>(kLanes, plane.size() - first);
    // Written always, kept if given: no branch on the data.
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const Step& step = steps.of[static_cast<std::uint8_t>(plane[first + lane])];
      const std::uint32_t state = states[lane];
      const std::uint32_t gives = gives_word(state, step);
      store(out, static_cast<std::uint16_t>(state));
      out += 2 * gives;
      states[lane] = taken(state >> (16 * gives), step);
    }
    if (out > end) return nullptr;
  }
  return out;
}

bool give_back_plane(States& states, MutableByteView plane, const Slots& slots, ByteView& words) {
  const std::byte* const begin = words.data();
  const std::byte* next = begin + words.size();
  const std::size_t steps = ceil_div(plane.size(), kLanes);
  for (std::size_t step = steps; step-- > 0;) {
    const std::size_t first = step * kLanes;
    std::size_t lane = std::min<std::size_t>(kLanes, plane.size() - first);
    while (lane-- > 0) {
      const std::uint32_t slot = slots.of[states[lane] % kScale];
      plane[first + lane] = static_cast<std::byte>(slot);
      const std::uint32_t state = (slot >> 8 & 0xfff) * (states[lane] >> kScaleBits) + (slot >> 20);
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

constexpr Stepper kPortable{take_plane, give_back_plane};

}  // namespace

const Stepper& portable_stepper() { return kPortable; }

const Stepper& stepper() {
  const Stepper* const wide = wide_stepper();
  return wide != nullptr ? *wide : kPortable;
}

}  // namespace thinwire::codec::ans
