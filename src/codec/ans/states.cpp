#include "codec/ans/states.h"

#include <algorithm>

namespace thinwire::codec::ans {
namespace {

// Whether a line has a byte for a value.
template <typename Lines, typename Line>
bool is_there(const Lines& lines, const Line& line, std::uint32_t value) {
  return value < lines.values && (!line.masked || lines.mask[value] != std::byte{0});
}

// A step of an encoder; returns where words begin.
std::byte* take_step(std::uint32_t& state, const Step& step, std::byte* end) {
  // Written always, kept if given: no branch on the data.
  const std::uint32_t gives = gives_word(state, step);
  store(end - 2, static_cast<std::uint16_t>(state));
  state = taken(state >> (16 * gives), step);
  return end - 2 * gives;
}

// A step of a decoder; returns where the words that are left begin.
const std::byte* give_step(std::uint32_t& state, const Slots& slots, std::byte& byte,
                           const std::byte* words) {
  const std::uint32_t before = slots.back(state, byte);
  const std::uint32_t needs = before < kLeastState;
  const std::uint32_t word = load<std::uint16_t>(words);
  state = before << (16 * needs) | (word & (0 - needs));
  return words + 2 * needs;
}

std::byte* take(States& states, const LinesToTake& lines, std::uint32_t first, std::byte* end) {
  for (std::uint32_t number = lines.count; number-- > 0;) {
    const auto& line = lines.line[number];
    for (std::uint32_t place = kOfLane; place-- > 0;) {
      for (std::uint32_t lane = kLanes; lane-- > 0;) {
        const std::uint32_t value = first + kOfLane * lane + place;
        if (!is_there(lines, line, value)) continue;
        const Step& step = line.numbers->of[static_cast<std::uint8_t>(line.bytes[value])];
        end = take_step(states[lane], step, end);
      }
    }
  }
  for (std::uint32_t lane = lines.quads == nullptr ? 0 : kLanes; lane-- > 0;) {
    const std::uint32_t value = first + kOfLane * lane;
    if (value >= lines.values) continue;
    const auto quad = static_cast<std::uint8_t>(lines.quads[value / kOfLane]);
    end = take_step(states[lane], lines.quad_numbers->of[quad], end);
  }
  return end;
}

const std::byte* give(States& states, const LinesToGive& lines, std::uint32_t first,
                      const std::byte* words) {
  for (std::uint32_t lane = 0; lines.quads != nullptr && lane < kLanes; ++lane) {
    const std::uint32_t value = first + kOfLane * lane;
    if (value >= lines.values) break;
    std::byte& quad = lines.quads[value / kOfLane];
    words = give_step(states[lane], *lines.quad_numbers, quad, words);
    for (std::uint32_t at = value; at < std::min(value + kOfLane, lines.values); ++at) {
      lines.mask[at] = quad >> (at - value) & std::byte{1};
    }
  }
  for (std::uint32_t number = 0; number < lines.count; ++number) {
    const auto& line = lines.line[number];
    for (std::uint32_t place = 0; place < kOfLane; ++place) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t value = first + kOfLane * lane + place;
        if (value >= lines.values) break;
        line.bytes[value] = std::byte{0};
        if (!is_there(lines, line, value)) continue;
        words = give_step(states[lane], *line.numbers, line.bytes[value], words);
      }
    }
  }
  return words;
}

constexpr GroupStepper kPortable{take, give};

const GroupStepper& fastest() {
  const GroupStepper* const wide = wide_group_stepper();
  return wide != nullptr ? *wide : kPortable;
}

// Vectors have whole groups.
template <typename Lines>
const GroupStepper& stepper_for(const Lines& lines, std::uint32_t first) {
  return first + kGroupValues <= lines.values ? fastest() : kPortable;
}

}  // namespace

bool read_states(const std::byte* bytes, States& states) {
  std::copy_n(bytes, kStateBytes, reinterpret_cast<std::byte*>(states.data()));
  return std::ranges::all_of(
      states, [](std::uint32_t state) { return state >= kLeastState && state < kStateEnd; });
}

bool are_least(const States& states) {
  return std::ranges::all_of(states, [](std::uint32_t state) { return state == kLeastState; });
}

const GroupStepper& portable_group_stepper() { return kPortable; }

std::byte* take_piece(States& states, const LinesToTake& lines, std::byte* end, std::size_t room) {
  const std::byte* const least = end - room;
  for (std::uint32_t group = ceil_div(lines.values, kGroupValues); group-- > 0;) {
    const std::uint32_t first = group * kGroupValues;
    end = stepper_for(lines, first).take(states, lines, first, end);
    if (end < least) return nullptr;
  }
  return end;
}

bool give_piece(States& states, const LinesToGive& lines, ByteView words) {
  const std::byte* next = words.data();
  const std::byte* const end = next + words.size();
  for (std::uint32_t first = 0; first < lines.values; first += kGroupValues) {
    next = stepper_for(lines, first).give(states, lines, first, next);
    if (next > end) return false;
  }
  return next == end;
}

}  // namespace thinwire::codec::ans
