// ZFP's plane coder for blocks of any rank: bit planes from the highest down, each as the bits of
// the coefficients known to be significant and group tests for the rest. See spec/codec-zfp.md,
// "Planes".
//
// The group test after the verbatim bits is written and read together with them; after a positive
// one tables give several coefficients a step.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/bit_matrix.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/plane_tables.h"

namespace thinwire::codec::zfp {

// Writes the next coefficients of a search, `rest` being what of the plane is not written yet, and
// takes them off; `last` if its highest one is the block's last coefficient.
template <typename Plane, typename Writer>
THINWIRE_HOST_DEVICE inline void put_step(const ExpandTable& table, Plane& rest, bool last,
                                          Writer& writer) {
  constexpr std::uint32_t kStep = (1u << kExpandBits) - 1;
  const bool more = rest > kStep;
  const std::uint32_t entry =
      table.entry[(static_cast<std::uint32_t>(rest) & kStep) + (more ? 0 : kStep + 1)];
  std::uint32_t code = entry & 0xffff;
  int bits = static_cast<int>(entry >> 24);
  if (last && !more) {
    bits -= 2;
    code &= ~(~0u << bits);
  }
  writer.put(code, bits);
  rest >>= kExpandBits;
}

// Writes planes `highest` and below (see load_plane()) until `writer` is full; those above have no
// ones. It has put(value, bits), 0 to 64 bits (32 for std::uint32_t) with none set above them, and
// full(); it drops what is put beyond its end.
template <int kValues, int kPlanes, typename Words, typename Writer>
THINWIRE_HOST_DEVICE inline void put_planes(const ExpandTable& table, const Words& planes,
                                            int highest, Writer& writer) {
  using Layout = PlaneLayout<kValues, kPlanes>;
  using Plane = typename Layout::Plane;
  writer.put(std::uint64_t{0}, kPlanes - 1 - highest);
  int n = 0;        // coefficients that may have ones already
  Plane known = 0;  // their places
  Plane rest = 0;   // of the plane, behind a test
  // One step of a search a turn, so that the lanes of a warp do not wait for each other's planes.
  for (int k = highest; k >= 0 && !writer.full();) {
    if (rest == 0) {
      const Plane plane = load_plane<Layout>(planes, k);
      const bool found = (plane & ~known) != 0;
      const bool tested = n < kValues;
      writer.put((plane & known) | (tested ? Plane{found} << n : 0), n + (tested ? 1 : 0));
      if (found) {
        rest = plane >> n;
        const int zeros = leading_zeros(plane);
        n = static_cast<int>(8 * sizeof(Plane)) - zeros;
        known = static_cast<Plane>(~Plane{0}) >> zeros;
      }
    }
    if (rest != 0) put_step(table, rest, n == kValues, writer);
    if (rest == 0) --k;
  }
}

// The next `bits` bits, 0 to kValues; up to 31 of them leave the reader's window as it was, so that
// what follows can be had without another. `bits` becomes what is to be skipped.
template <int kValues, typename Plane, typename Reader>
THINWIRE_HOST_DEVICE inline Plane get_verbatim(Reader& reader, int& bits) {
  std::uint32_t low = 0;
  const bool is_long = kValues > 32 && bits >= 32;
  if (is_long) {
    low = static_cast<std::uint32_t>(reader.take_word());
    bits -= 32;
  }
  const auto mask = static_cast<std::uint32_t>(~(~std::uint64_t{0} << bits));
  const std::uint32_t part = static_cast<std::uint32_t>(reader.window()) & mask;
  if constexpr (kValues > 32) {
    const std::uint32_t high = is_long ? part : 0;
    return static_cast<Plane>(high) << 32 | (is_long ? low : part);
  }
  return part;
}

// A step of a search at coefficient n, for which kSearchBits bits must be there; 0 if the search
// goes on.
template <int kValues, typename Plane, typename Reader>
THINWIRE_HOST_DEVICE inline std::uint32_t get_step(const SearchTable& table, Reader& reader,
                                                   Plane& plane, int& n) {
  const std::uint32_t step = table.entry[smaller(kValues - 1 - n, kSearchBits + 1)]
                                        [reader.window() & ((1u << kSearchBits) - 1)];
  plane |= static_cast<Plane>(search_ones(step)) << n;
  n += search_passed(step);
  reader.skip(search_read(step));
  return step & kSearchEnds;
}

// Reads the verbatim bits of a plane and the test after them; returns 0 if the test is positive.
template <int kValues, typename Plane, typename Reader>
THINWIRE_HOST_DEVICE inline std::uint32_t begin_plane(Reader& reader, Plane& plane, int n) {
  int bits = n;
  plane = get_verbatim<kValues, Plane>(reader, bits);
  const std::uint32_t tested = n < kValues ? 1 : 0;
  const std::uint32_t found = static_cast<std::uint32_t>(reader.window()) >> (bits & 31) & tested;
  reader.skip(bits + static_cast<int>(tested));
  return found ^ 1;
}

// One plane, of which `left` bits are there, and fewer than it has. A search that they end has
// found where it stands.
template <int kValues, typename Plane, typename Reader>
THINWIRE_HOST_DEVICE inline Plane get_last_plane(const SearchTable& table, Reader& reader, int left,
                                                 int n) {
  int bits = smaller(n, left);
  left -= bits;
  Plane plane = get_verbatim<kValues, Plane>(reader, bits);
  reader.skip(bits);
  const auto get = [&] {
    const bool bit = (reader.window() & 1) != 0;
    reader.skip(1);
    --left;
    return bit;
  };
  while (n < kValues && left > 0 && get()) {
    while (left >= kSearchBits) {
      const auto begin = reader.position();
      const std::uint32_t ends = get_step<kValues>(table, reader, plane, n);
      left -= static_cast<int>(reader.position() - begin);
      if (ends != 0) return plane;
    }
    while (n < kValues - 1 && left > 0 && !get()) ++n;
    plane |= Plane{1} << n++;
  }
  return plane;
}

// The lanes of a warp that call meet() wait for each other there: otherwise their paths, of
// different lengths, would run one after the other.
struct Lanes {
#if defined(__CUDA_ARCH__)
  unsigned mask = __activemask();
  __device__ void meet() const { __syncwarp(mask); }
#else
  void meet() const {}
#endif
};

// Reads the planes of a stream of `budget` bits down to plane `lowest` into `planes`, all 0 before.
// Any bits are a stream. `reader` has window(), the next 32 bits or more, anything after the
// budget's end, skip(bits) of up to 32, take_word(), which skips the 32 bits that it returns,
// position() and seek(position).
template <int kValues, int kPlanes, typename Words, typename Reader>
THINWIRE_HOST_DEVICE inline void get_planes(const SearchTable& table, Reader& reader, int budget,
                                            int lowest, Words& planes) {
  using Layout = PlaneLayout<kValues, kPlanes>;
  using Plane = typename Layout::Plane;
  const auto end = reader.position() + budget;
  int k = kPlanes - 1;
  int n = 0;
  // Planes without ones are a zero each, as long as there is nothing to say verbatim.
  const int most = smaller(smaller(budget, kPlanes - lowest), 31);
  const int zeros = trailing_zeros(static_cast<std::uint32_t>(reader.window()) | 1u << most);
  reader.skip(zeros);
  k -= zeros;
  const Lanes lanes;
  auto begin = reader.position();
  int known = 0;
  Plane plane = 0;
  std::uint32_t ended = 1;
  bool is_cut = false;
  // One step of a search a turn, so that the lanes of a warp do not wait for each other's planes.
  while (k >= lowest && begin < end) {
    if (ended != 0) {
      known = n;
      ended = begin_plane<kValues>(reader, plane, n);
    }
    if (ended == 0) ended = get_step<kValues>(table, reader, plane, n);
    if (ended == 0) continue;
    is_cut = reader.position() > end;
    if (is_cut) break;
    add_plane<Layout>(planes, k, plane);
    --k;
    begin = reader.position();
  }
  lanes.meet();
  if (is_cut) {
    reader.seek(begin);
    add_plane<Layout>(
        planes, k,
        get_last_plane<kValues, Plane>(table, reader, static_cast<int>(end - begin), known));
  }
}

}  // namespace thinwire::codec::zfp
