#include "codec/ans/model.h"

#include <algorithm>

namespace thinwire::codec::ans {
namespace {

using Counts = std::array<std::uint32_t, kBytes>;

// In four tables: equal bytes behind each other would wait for one another.
Counts count(ByteView plane) {
  std::uint32_t each[4][kBytes] = {};
  std::size_t at = 0;
  for (; at + 4 <= plane.size(); at += 4) {
    for (std::size_t part = 0; part < 4; ++part) {
      ++each[part][static_cast<std::uint8_t>(plane[at + part])];
    }
  }
  for (; at < plane.size(); ++at) ++each[0][static_cast<std::uint8_t>(plane[at])];
  Counts counts{};
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    counts[byte] = each[0][byte] + each[1][byte] + each[2][byte] + each[3][byte];
  }
  return counts;
}

std::uint32_t code_in(std::uint32_t group, std::uint32_t place) {
  return group >> (6 * place) & 0x3f;
}

}  // namespace

std::optional<Model> Model::of(ByteView plane) {
  if (plane.empty()) return {};
  const Counts counts = count(plane);
  const auto all = static_cast<std::uint32_t>(plane.size());
  Model model;
  model.rest_ = static_cast<std::uint32_t>(std::ranges::max_element(counts) - counts.begin());
  std::uint32_t others = 0, low = kBytes, high = 0;
  for (std::uint32_t byte = 0; byte < kBytes; ++byte) {
    if (counts[byte] == 0) continue;
    low = std::min(low, byte);
    high = byte;
    if (byte == model.rest_) continue;
    const std::uint32_t frequency = frequency_of(code_of(counts[byte], all));
    model.frequency_[byte] = static_cast<std::uint16_t>(frequency);
    others += frequency;
  }
  if (others >= kScale) return {};
  model.frequency_[model.rest_] = static_cast<std::uint16_t>(kScale - others);
  model.first_ = low / 4;
  model.groups_ = high / 4 - low / 4 + 1;
  std::uint32_t cost = 0;
  for (std::uint32_t byte = low; byte <= high; ++byte) {
    if (counts[byte] != 0) cost += counts[byte] * cost_of(model.frequency_[byte]);
  }
  if (!pays(cost, model.groups_, all)) return {};
  return model;
}

std::optional<Model> Model::read(ByteView& bytes) {
  if (bytes.size() < 2) return {};
  Model model;
  model.first_ = static_cast<std::uint32_t>(bytes[0]);
  model.groups_ = static_cast<std::uint32_t>(bytes[1]);
  const std::size_t size = 2 + 3 * model.groups_;
  if (model.groups_ == 0 || model.first_ + model.groups_ > kBytes / 4) return {};
  if (bytes.size() < size) return {};
  std::uint32_t others = 0, rests = 0;
  for (std::uint32_t at = 0; at < 4 * model.groups_; ++at) {
    const std::byte* const group = bytes.data() + 2 + at / 4 * 3;
    const std::uint32_t three = load<std::uint16_t>(group) | static_cast<std::uint32_t>(group[2])
                                                                 << 16;
    const std::uint32_t code = code_in(three, at % 4), byte = 4 * model.first_ + at;
    if (code == kRestCode) {
      model.rest_ = byte;
      ++rests;
    } else if (code > kLastCode) {
      return {};
    } else {
      model.frequency_[byte] = static_cast<std::uint16_t>(frequency_of(code));
      others += frequency_of(code);
    }
  }
  if (rests != 1 || others >= kScale) return {};
  model.frequency_[model.rest_] = static_cast<std::uint16_t>(kScale - others);
  bytes = bytes.subspan(size);
  return model;
}

std::byte* Model::write(std::byte* out) const {
  *out++ = static_cast<std::byte>(first_);
  *out++ = static_cast<std::byte>(groups_);
  for (std::uint32_t group = first_; group < first_ + groups_; ++group) {
    std::uint32_t codes = 0;
    for (std::uint32_t place = 0; place < 4; ++place) {
      const std::uint32_t byte = 4 * group + place, frequency = frequency_[byte];
      const std::uint32_t code = byte == rest_    ? kRestCode
                                 : frequency == 0 ? 0
                                                  : nearest_code(frequency);
      codes |= code << (6 * place);
    }
    for (int part = 0; part < 3; ++part) *out++ = static_cast<std::byte>(codes >> (8 * part));
  }
  return out;
}

std::array<Step, kBytes> Model::steps() const {
  std::array<Step, kBytes> steps{};
  std::uint32_t start = 0;
  for (std::uint32_t byte = 0; byte < kBytes; ++byte) {
    if (frequency_[byte] == 0) continue;
    steps[byte] = step_of(frequency_[byte], start);
    start += frequency_[byte];
  }
  return steps;
}

std::array<std::uint32_t, kScale> Model::slots() const {
  std::array<std::uint32_t, kScale> slots;
  std::uint32_t slot = 0;
  for (std::uint32_t byte = 0; byte < kBytes; ++byte) {
    const std::uint32_t frequency = frequency_[byte];
    for (std::uint32_t at = 0; at < frequency; ++at) {
      slots[slot++] = byte | frequency << 8 | at << 20;
    }
  }
  return slots;
}

}  // namespace thinwire::codec::ans
