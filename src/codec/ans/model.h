// The frequencies of one plane's bytes on the host. See spec/codec-ans.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "codec/ans/frequencies.h"

namespace thinwire::codec::ans {

class Model {
 public:
  // Of a plane of these bytes; none where it is to be stored.
  static std::optional<Model> of(ByteView plane);

  // Reads a table from the front of `bytes`, and takes it off; none where there is no sound one.
  static std::optional<Model> read(ByteView& bytes);

  // Writes the table; returns where it ends.
  std::byte* write(std::byte* out) const;

  std::uint32_t frequency(std::uint32_t byte) const { return frequency_[byte]; }

  // Whether coding changes states: there is more than one byte.
  bool is_mixed() const { return frequency_[rest_] < kScale; }
  std::uint8_t only_byte() const { return static_cast<std::uint8_t>(rest_); }

  // For each byte.
  std::array<Step, kBytes> steps() const;

  // For each of kScale remainders of a state: its byte, its frequency << 8, and the remainder less
  // the byte's start, << 20.
  std::array<std::uint32_t, kScale> slots() const;

 private:
  std::array<std::uint16_t, kBytes> frequency_{};
  std::uint32_t rest_ = 0;
  std::uint32_t first_ = 0, groups_ = 0;  // in fours of bytes
};

}  // namespace thinwire::codec::ans
