// ZFP's plane coder for blocks of any rank: bit planes from the highest down, each as the bits of
// the coefficients known to be significant and group tests for the rest. See spec/codec-zfp.md,
// "Planes".
//
// The group test behind the verbatim bits is written and read together with them; what follows a
// positive one goes by tables, several coefficients a step.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/bit_matrix.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/plane_tables.h"

namespace thinwire::codec::zfp {

// Writes what follows a positive group test for coefficient `n`. `rest` is the plane from there on,
// `last` whether its highest one is the block's last coefficient.
template <typename Plane, typename Writer>
THINWIRE_HOST_DEVICE inline void put_found(const ExpandTable& table, Plane rest, bool last,
                                           Writer& writer) {
  constexpr std::uint32_t kStep = (1u << kExpandBits) - 1;
  bool more;
  do {
    more = rest > kStep;
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
  } while (more);
}

// Writes planes `highest` and below (see load_plane()) until `writer` is full; those above have no
// ones. It has put(value, bits), 0 to 64 bits (32 for up to 16 coefficients, and for
// std::uint32_t) with none set above them, and full(); it drops what is put beyond its end.
template <int kValues, int kPlanes, typename Words, typename Writer>
THINWIRE_HOST_DEVICE inline void put_planes(const ExpandTable& table, const Words& planes,
                                            int highest, Writer& writer) {
  using Layout = PlaneLayout<kValues, kPlanes>;
  using Plane = typename Layout::Plane;
  writer.put(std::uint64_t{0}, kPlanes - 1 - highest);
  int n = 0;        // coefficients that may have ones already
  Plane known = 0;  // their places
  for (int k = highest; k >= 0 && !writer.full(); --k) {
    const Plane plane = load_plane<Layout>(planes, k);
    const bool found = (plane & ~known) != 0;
    if (n == kValues) {
      writer.put(plane, kValues);
      continue;
    }
    writer.put((plane & known) | Plane{found} << n, n + 1);
    if (!found) continue;
    const Plane rest = plane >> n;
    const int zeros = leading_zeros(plane);
    n = static_cast<int>(8 * sizeof(Plane)) - zeros;
    known = static_cast<Plane>(~Plane{0}) >> zeros;
    put_found(table, rest, n == kValues, writer);
  }
}

// One plane, of which `budget` bits are there; updates n. A search that the budget ends has found
// where it stands.
template <int kValues, typename Plane, typename Reader>
THINWIRE_HOST_DEVICE inline Plane get_last_plane(Reader& reader, int budget, int n) {
  Plane plane = 0;
  const auto get = [&] {
    const Plane bit = static_cast<Plane>(reader.window() & 1);
    reader.skip(1);
    --budget;
    return bit;
  };
  for (int i = 0; i < n && budget > 0; ++i) plane |= get() << i;
  while (n < kValues && budget > 0 && get() != 0) {
    while (n < kValues - 1 && budget > 0 && get() == 0) ++n;
    plane |= Plane{1} << n++;
  }
  return plane;
}

// One plane, of which all bits are there; updates n.
template <int kValues, typename Plane, typename Reader>
THINWIRE_HOST_DEVICE inline Plane get_plane(const SearchTable& table, Reader& reader, int& n) {
  int verbatim = n;
  Plane plane = 0;
  if constexpr (kValues > 32) {
    if (n >= 32) {
      plane = static_cast<std::uint32_t>(reader.window());
      reader.skip(32);
      verbatim -= 32;
    }
  }
  const auto window = static_cast<std::uint32_t>(reader.window());
  const auto mask = static_cast<std::uint32_t>(~(~std::uint64_t{0} << verbatim));
  plane |= static_cast<Plane>(window & mask) << (n - verbatim);
  if (n == kValues) {
    reader.skip(verbatim);
    return plane;
  }
  bool found = (window >> verbatim & 1) != 0;
  reader.skip(verbatim + 1);
  while (found) {
    const std::uint32_t step = table.entry[smaller(kValues - 1 - n, kSearchBits + 1)]
                                          [reader.window() & ((1u << kSearchBits) - 1)];
    plane |= static_cast<Plane>(step & 0xff) << n;
    n += static_cast<int>(step >> 8 & 0xff);
    reader.skip(static_cast<int>(step >> 16 & 0xff));
    found = step < kSearchEnds;
  }
  return plane;
}

// Reads the planes of a stream of `budget` bits down to plane `lowest` into `planes`, all 0 before.
// Any bits are a stream. `reader` has window(), the next 32 bits or more, whatever lies behind the
// budget, skip(bits) of up to 32, position() and seek(position).
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
  for (; k >= lowest && reader.position() < end; --k) {
    const auto begin = reader.position();
    const int known = n;
    const Plane plane = get_plane<kValues, Plane>(table, reader, n);
    if (reader.position() > end) {
      reader.seek(begin);
      add_plane<Layout>(planes, k,
                        get_last_plane<kValues, Plane>(reader, static_cast<int>(end - begin), known));
      return;
    }
    add_plane<Layout>(planes, k, plane);
  }
}

}  // namespace thinwire::codec::zfp
