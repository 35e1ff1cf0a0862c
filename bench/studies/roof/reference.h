// The formats by one thread of the host, slowly, one value after the other: what the kernels' bytes
// have to be.
#pragma once

#include <cstring>
#include <vector>

#include "format.h"
#include "framed.h"

namespace roof {

// The parts of a payload that are being filled.
struct Filled {
  std::uint8_t* bases;  // of the warp
  std::uint8_t* plane;
  std::uint8_t* codes;
  std::uint8_t* raws;
  std::uint32_t count = 0;  // of raw exponents
};

// How formats differ in a warp's plane and codes: the plane in pieces of 16 bytes a lane, of two
// rows each, or in order; codes as words of 32 bits a lane or as pairs of them.
inline std::uint32_t plane_offset(bool is_framed, int row, int lane, int within) {
  if (is_framed) return row * 256 + lane * 8 + within;
  return (row / 2 * 32 + lane) * 16 + row % 2 * 8 + within;
}
inline std::uint32_t codes_offset(bool is_framed, int word, int lane) {
  return is_framed ? (word / 2 * 32 + lane) * 8 + word % 2 * 4 : (word * 32 + lane) * 4;
}

inline std::uint32_t exponent_of(std::uint16_t value) { return value >> 7 & 255; }

// Groups of 4 rows of a lane.
template <bool kIsNamed>
void fill_group(const std::uint16_t* rows, bool is_framed, int group, int lane, Filled& to) {
  std::uint32_t words[3] = {};
  for (int order = 0; order < 32; ++order) {
    const int pair = order % 16, half = order / 16;
    const int row = 4 * group + pair / 4, within = 2 * (pair % 4) + half;
    const std::uint32_t number = row * 256 + lane * 8 + within;
    const std::uint16_t value = rows[number];
    to.plane[plane_offset(is_framed, row, lane, within)] =
        static_cast<std::uint8_t>((value & 0x7F) | (value >> 8 & 0x80));
    const std::uint32_t exponent = exponent_of(value), distance = exponent - to.bases[row];
    const bool is_raw = distance >= (kIsNamed ? 8 : 7);
    const std::uint32_t code = !is_raw ? distance : kIsNamed ? 0 : 7;
    if (is_raw && kIsNamed) {
      const std::uint32_t entry = number | exponent << 16;
      std::memcpy(to.raws + 3 * to.count, &entry, 3);
    } else if (is_raw) {
      to.raws[to.count] = static_cast<std::uint8_t>(exponent);
    }
    to.count += is_raw ? 1 : 0;
    for (int bit = 0; bit < 3; ++bit) {
      const int word = pair < 15 ? pair % 3 : bit;
      const int at = pair < 15 ? 3 * (pair / 3) + bit : 15;
      words[word] |= (code >> bit & 1) << (at + 16 * half);
    }
  }
  for (int at = 0; at < 3; ++at) {
    std::memcpy(to.codes + codes_offset(is_framed, group * 3 + at, lane), &words[at], 4);
  }
}

template <bool kIsNamed>
void fill_rows(const std::uint16_t* rows, bool is_framed, int count, Filled& to) {
  for (int row = 0; row < count; ++row) {
    std::uint32_t sum = 0;
    for (int at = 0; at < 256; ++at) sum += exponent_of(rows[row * 256 + at]);
    to.bases[row] = static_cast<std::uint8_t>(base_of<kIsNamed>(sum));
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int group = 0; group < count / 4; ++group) {
      fill_group<kIsNamed>(rows, is_framed, group, lane, to);
    }
  }
}

template <typename F>
std::vector<std::uint8_t> reference_frame(const std::uint16_t* values, std::uint64_t count) {
  const std::uint64_t chunks = count / F::kChunkValues;
  std::vector<std::uint8_t> frame(F::frame_bytes(chunks, chunks * F::size_of(F::kChunkValues)));
  std::uint64_t units = 0;
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    std::uint8_t* heads = frame.data() + F::body(chunks);
    heads += F::kIsApart ? chunk * F::kWarps * F::kHeadBytes : units * F::kUnit;
    std::uint8_t* const fixed =
        F::kIsApart ? frame.data() + F::fixed(chunks) + chunk * F::kWarps * F::kFixedBytes
                    : heads + F::kChunkHeadBytes;
    Filled to{};
    to.raws =
        F::kIsApart ? frame.data() + F::raw(chunks) + units : fixed + F::kWarps * F::kFixedBytes;
    for (int warp = 0; warp < F::kWarps; ++warp) {
      to.bases = heads + warp * F::kHeadBytes;
      to.plane = fixed + warp * F::kFixedBytes;
      to.codes = to.plane + F::kWarpValues;
      fill_rows<F::kIsNamed>(values + chunk * F::kChunkValues + warp * F::kWarpValues, false,
                             F::kRows, to);
      std::memcpy(to.bases + F::kRows, &to.count, 4);
    }
    const std::uint32_t size = F::size_of(to.count);
    units += size;
    const auto row = static_cast<std::uint32_t>(F::kEnds ? units : size);
    std::memcpy(&frame[4 * chunk], &row, 4);
  }
  frame.resize(F::frame_bytes(chunks, units));
  return frame;
}

namespace framed {

inline std::uint32_t checksum(const std::uint8_t* payload, std::uint32_t bytes) {
  std::uint64_t sum = bytes;
  for (std::uint32_t at = 0; at < bytes / 8; ++at) {
    std::uint64_t word = 0;
    std::memcpy(&word, payload + 8 * at, 8);
    sum += weight_of(at) * product(word, key_of(at));
  }
  return finish(sum);
}

template <bool kSums>
std::vector<std::uint8_t> reference_frame(const std::uint16_t* values, std::uint64_t count) {
  const std::uint64_t chunks = count / kValues;
  std::vector<std::uint8_t> frame(body(chunks) + 2 * count + kValues);
  std::uint64_t end = body(chunks);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    std::uint8_t* const payload = frame.data() + end;
    Filled to{};
    to.raws = payload + kRaws;
    for (int warp = 0; warp < kWarps; ++warp) {
      to.bases = payload + kBases + warp * kRows;
      to.plane = payload + kPlane + warp * kRows * 256;
      to.codes = payload + kCodes + warp * 3 * 256;
      fill_rows<false>(values + chunk * kValues + warp * kRows * 256, true, kRows, to);
      std::memcpy(payload + 2 * warp, &to.count, 2);
    }
    const std::uint32_t size = size_of(to.count);
    const std::uint64_t row = std::uint64_t{kSums ? checksum(payload, size) : 0} << 32 | size;
    std::memcpy(&frame[kFrameHeader + 8 * chunk], &row, 8);
    end += size;
  }
  frame.resize(end);
  return frame;
}

}  // namespace framed
}  // namespace roof
