// ZFP's plane coder for blocks of any rank: bit planes from the highest down, each as the bits of
// the coefficients known to be significant and group tests for the rest. See spec/codec-zfp.md,
// "Planes".
//
// A group test always follows the last verbatim bit, or the one that ended a search: they are
// written together, so that a plane takes one field and each coefficient found takes one more.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/bit_matrix.h"
#include "codec/zfp/bits.h"

namespace thinwire::codec::zfp {

// The lowest `count` bits, 0 to kValues.
template <int kValues, typename Plane>
THINWIRE_HOST_DEVICE constexpr Plane lowest_bits(int count) {
  if constexpr (kValues == 64) return low_bits_mask(count);
  return (Plane{1} << count) - 1;
}

// Writes kPlanes planes (see load_plane()) until `writer` is full. It has put(value, bits), 0 to 64
// bits (32 for up to 16 coefficients) with none set above them, and full(); it drops what is put
// beyond its end.
template <int kValues, int kPlanes, typename Words, typename Writer>
THINWIRE_HOST_DEVICE inline void put_planes(const Words& planes, Writer& writer) {
  using Layout = PlaneLayout<kValues, kPlanes>;
  using Plane = typename Layout::Plane;
  int n = 0;  // coefficients that may have ones already
  for (int k = kPlanes - 1; k >= 0 && !writer.full(); --k) {
    const Plane plane = load_plane<Layout>(planes, k);
    if (n == kValues) {
      writer.put(plane, kValues);
      continue;
    }
    Plane rest = plane >> n;
    writer.put((plane & ((Plane{1} << n) - 1)) | Plane{rest != 0} << n, n + 1);
    while (rest != 0 && !writer.full()) {
      const int zeros = trailing_zeros(rest);
      rest = rest >> zeros >> 1;
      n += zeros + 1;
      // The last coefficient needs no bit, nor a test behind it: a search that gets there is over.
      if (n == kValues) {
        writer.put(Plane{0}, zeros);
      } else {
        writer.put((Plane{1} | Plane{rest != 0} << 1) << zeros, zeros + 2);
      }
    }
  }
}

// Reads the planes of a stream of `budget` bits down to plane `lowest` into `planes`, all 0 before.
// Any bits are a stream. `reader` has window(), the next bits (64, or 32 for up to 16
// coefficients), whatever lies behind the budget, and skip(bits).
template <int kValues, int kPlanes, typename Words, typename Reader>
THINWIRE_HOST_DEVICE inline void get_planes(Reader& reader, int budget, int lowest, Words& planes) {
  using Layout = PlaneLayout<kValues, kPlanes>;
  using Plane = typename Layout::Plane;
  int n = 0;
  for (int k = kPlanes - 1; k >= lowest && budget > 0; --k) {
    const int verbatim = smaller(n, budget);
    Plane plane = static_cast<Plane>(reader.window()) & lowest_bits<kValues, Plane>(verbatim);
    reader.skip(verbatim);
    budget -= verbatim;
    while (n < kValues && budget > 0) {
      const auto next = static_cast<Plane>(reader.window());
      --budget;
      if ((next & 1) == 0) {
        reader.skip(1);
        break;
      }
      // A search that reaches the last coefficient, or the end of the budget, has found there.
      const int most = smaller(kValues - 1 - n, budget);
      const int zeros = trailing_zeros((next >> 1) | Plane{1} << most);
      const int read = smaller(zeros + 1, most);
      reader.skip(1 + read);
      budget -= read;
      plane |= Plane{1} << (n + zeros);
      n += zeros + 1;
    }
    add_plane<Layout>(planes, k, plane);
  }
}

}  // namespace thinwire::codec::zfp
