// The sum of the ranks' arrays, in the order of ranks or exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"
#include "base/host_device.h"
#include "slot/factor.h"

namespace thinwire::collective {

using namespace slot;

// A message that holds a rank's factor, which goes with values that have no slot: its word as in a
// slot's header, and zeros.
inline constexpr std::uint64_t kFactorBytes = 16;
THINWIRE_HOST_DEVICE inline void put_factor(std::byte* to, const SlotFactor& factor) {
  const std::uint64_t words[2] = {factor_word(factor), 0};
  memcpy(to, words, sizeof words);
}

// The arrays of all ranks: those that came one after the other, this rank's elsewhere.
struct Operands {
  const std::byte* first = nullptr;
  std::uint64_t stride = 0;  // in bytes
  int count = 0;
  int own = -1;  // whose array is `own_at`; -1: all lie after `first`
  const std::byte* own_at = nullptr;
  Factors factors{};
  double scale = 1;  // of all ranks
  bool is_exact = false;
  std::uint32_t divisor = 1;  // of an exact total

  THINWIRE_HOST_DEVICE const std::byte* at(int rank) const {
    if (rank == own) return own_at;
    return first + stride * static_cast<std::uint64_t>(own >= 0 && rank > own ? rank - 1 : rank);
  }
  THINWIRE_HOST_DEVICE double factor_of(int rank) const {
    return factors.exist ? factors.of(rank) * scale : scale;
  }
};

// to[i] = rank 0's [i] * its factor + rank 1's [i] * its factor + ... for `count` elements of a
// float type, at any alignment; at least one array. Values are multiplied before they are added, as
// NCCL does: a mean of finite values is finite. 16-bit types are multiplied and added in fp32 and
// rounded once, the others after each operation. A NaN is the canonical one. `to` may be one of the
// arrays, else it overlaps none. Allocates nothing.
void sum_in_order(Dtype dtype, std::uint64_t count, const Operands& arrays, std::byte* to);

// The same with exact totals, whatever `arrays` says: values are multiplied, and rounded, as above.
// Their total is divided and then rounded, once, to nearest, ties to even.
void sum_exactly(Dtype dtype, std::uint64_t count, const Operands& arrays, std::byte* to);

// One or the other, as `arrays` says.
inline void sum_arrays(Dtype dtype, std::uint64_t count, const Operands& arrays, std::byte* to) {
  arrays.is_exact ? sum_exactly(dtype, count, arrays, to) : sum_in_order(dtype, count, arrays, to);
}

}  // namespace thinwire::collective
