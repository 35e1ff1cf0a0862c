// The frequencies of one plane's bytes on the host. See spec/codec-ans.md.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "codec/ans/counts.h"
#include "codec/ans/frequencies.h"

namespace thinwire::codec::ans {

// The encoder's numbers for each byte that occurs.
struct Steps {
  alignas(64) std::array<Step, kBytes> of;
};

// The decoder's word for each of the kScale remainders of a state: the byte, its frequency << 8,
// and the remainder less the byte's start, << 20.
struct Slots {
  static constexpr std::uint32_t kAtOnce = 8;  // are written, some of them twice
  alignas(64) std::array<std::uint32_t, kScale + kAtOnce> of;

  // The state before it took its byte, words aside.
  std::uint32_t back(std::uint32_t state, std::byte& byte) const {
    const std::uint32_t slot = of[state % kScale];
    byte = static_cast<std::byte>(slot);
    return (slot >> 8 & 0xfff) * (state >> kScaleBits) + (slot >> 20);
  }
};

class Model {
 public:
  // Chooses frequencies for a plane of these bytes, `all` together. False if the plane is to be
  // stored.
  bool take(const Counts& counts, std::uint32_t all);

  // The same for the quads of a mask. False if nothing would be left for the most frequent one.
  bool take_mask(const Counts& counts, std::uint32_t all);

  // Bytes of the plane that take() was called for last, with its table if it is coded.
  std::uint32_t bytes() const { return bytes_; }

  // Reads a table from the front of `bytes` and takes it off. False if there is no sound one.
  bool read(ByteView& bytes);

  // Writes the table; returns where it ends.
  std::byte* write(std::byte* out) const;

  // The same for the table of a mask, which has all quads. `codes` has kMaskTableBytes.
  bool read_mask(const std::byte* codes);
  std::byte* write_mask(std::byte* out) const { return write_codes(out); }

  // Whether coding changes states: there is more than one byte.
  bool is_mixed() const { return frequency_[rest_] < kScale; }
  std::uint8_t only_byte() const { return static_cast<std::uint8_t>(rest_); }

  void make(Steps& steps) const;
  void make(Slots& slots) const;

 private:
  bool share(const Counts& counts, std::uint32_t all);
  bool read_codes(const std::byte* group);
  std::byte* write_codes(std::byte* out) const;

  std::uint32_t begin() const { return 4 * first_; }
  std::uint32_t end() const { return 4 * (first_ + groups_); }

  // Frequencies by byte, set for the bytes of the table's groups alone.
  alignas(64) std::array<std::uint32_t, kBytes> frequency_;
  alignas(64) std::array<std::uint32_t, kBytes> code_;  // set by take()
  std::uint32_t rest_ = 0;
  std::uint32_t first_ = 0, groups_ = 0;  // in fours of bytes
  std::uint32_t cost_ = 0, bytes_ = 0;    // set by take()
};

}  // namespace thinwire::codec::ans
