// Arrays as their differences from others that both ends have; spec/delta.md has the arithmetic.
// Host memory.
#pragma once

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/status.h"
#include "frame/delta.h"
#include "message/message.h"

namespace thinwire::message {

// An array of earlier on, of the same dtype and count as the one that is coded against it.
struct Reference {
  std::uint64_t number = 0;
  const std::byte* values = nullptr;
};

// `out` <- `values` - `reference`, each element as an integer of its width whose sign is its lowest
// bit: elements that are nearly the same become small ones.
void take_difference(Dtype dtype, std::uint64_t bytes, const std::byte* values,
                     const std::byte* reference, std::byte* out);

// The inverse: `values` <- `reference` + `values`.
void add_difference(Dtype dtype, std::uint64_t bytes, const std::byte* reference,
                    std::byte* values);

// Sum over elements of the bits that a difference has beyond its leading zeros.
std::uint64_t difference_bits(Dtype dtype, std::uint64_t bytes, const std::byte* a,
                              const std::byte* b);

// Checks, decodes and adds a delta packet. kDamaged if it names another reference, or if the
// reference's bytes are not those that the sender had: nothing is written then. No reference at all
// is given as one without values.
Status decode_delta(ByteView packet, const codec::Chunk& array, const Reference& reference,
                    const frame::Mark& mark, std::byte* destination);

}  // namespace thinwire::message
