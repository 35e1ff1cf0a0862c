// The plane encoder of plane_coder.h for one block of a group on the host: a plane at a time, its
// bits together. See spec/codec-zfp.md, "Planes".
#pragma once

#include <cstdint>

#include "codec/zfp/bits.h"
#include "codec/zfp/group.h"
#include "codec/zfp/plane_tables.h"
#include "codec/zfp/short_planes.h"

namespace thinwire::codec::zfp {

// Appends what a search codes, `rest` being the plane from the first coefficient of it on and
// `is_all` whether its highest one is the block's last coefficient, to the `bits` bits of `code`.
// Returns their number, and puts what one word does not hold.
template <typename Writer>
inline int put_search(const ExpandTable& table, std::uint64_t rest, bool is_all, Writer& writer,
                      std::uint64_t& code, int bits) {
  constexpr std::uint32_t kStep = (1u << kExpandBits) - 1;
  while (true) {
    if (bits > 64 - 2 * kExpandBits) {
      writer.put_any(code, bits);
      code = 0;
      bits = 0;
    }
    const bool more = rest > kStep;
    const std::uint32_t entry =
        table.entry[(static_cast<std::uint32_t>(rest) & kStep) + (more ? 0 : kStep + 1)];
    std::uint64_t part = entry & 0xffff;
    int length = static_cast<int>(entry >> 24);
    if (!more && is_all) {
      length -= 2;
      part &= low_bits_mask(length);
    }
    code |= part << bits;
    bits += length;
    if (!more) return bits;
    rest >>= kExpandBits;
  }
}

// Writes a plane: the bits of the first n coefficients, which may have ones already, then the
// others.
template <int kValues, typename Writer>
inline void put_plane(const ExpandTable& table, std::uint64_t plane, int& n, Writer& writer) {
  const std::uint64_t rest = plane >> n;
  if (rest == 0) {
    writer.put_any(plane, n + 1);
    return;
  }
  std::uint64_t code = (plane & low_bits_mask(n)) | std::uint64_t{1} << n;
  const int bits = n + 1;
  n = 64 - leading_zeros(plane);
  const int all = put_search(table, rest, n == kValues, writer, code, bits);
  writer.put_any(code, all);
}

// Writes planes `highest` and below of block `lane` until `writer` is full; those above have no
// ones. Of blocks of four two planes at a time.
template <int kPlanes, typename Group, typename Writer>
inline void put_lane_by_pairs(const PairCodes& table, Group& group, int lane, int highest,
                              Writer& writer) {
  static_assert(Group::kValues == 4);
  writer.put(0, kPlanes - 1 - highest);
  need_plane(group, static_cast<unsigned>(highest));
  unsigned n = 0;
  for (auto k = static_cast<unsigned>(highest) + 1; k > 0 && !writer.full();) {
    // Planes below the last one add zeros to the zeros that follow.
    std::uint64_t planes = plane_of(group, --k, lane);
    if (k % 32 == 0 && k > 0) need_plane(group, k - 1);
    if (k > 0) planes |= plane_of(group, --k, lane) << 4;
    if (k % 32 == 0 && k > 0) need_plane(group, k - 1);
    const std::uint32_t step = table.entry[n][planes];
    writer.put(step & 0xffff, static_cast<int>(step >> 16 & 0xff));
    n = step >> 24;
  }
}

// The same of blocks of 64; list_coder.h has those of 16.
template <int kPlanes, typename Group, typename Writer>
inline void put_lane(const ExpandTable& table, Group& group, int lane, int highest,
                     Writer& writer) {
  constexpr int kValues = Group::kValues;
  static_assert(kValues == 64);
  writer.put(0, kPlanes - 1 - highest);
  need_plane(group, static_cast<unsigned>(highest));
  int n = 0;
  auto k = static_cast<unsigned>(highest) + 1;  // planes that are left
  const auto next_plane = [&] {
    --k;
    // Pieces begin at multiples of eight planes or more.
    if (k % 8 == 7) need_plane(group, k);
    return plane_of(group, k, lane);
  };
  while (k > 0 && n < kValues && !writer.full()) {
    put_plane<kValues>(table, next_plane(), n, writer);
  }
  // Planes are plain bits from here on.
  while (k > 0 && !writer.full()) writer.put(next_plane(), kValues);
}

}  // namespace thinwire::codec::zfp
