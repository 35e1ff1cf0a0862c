// Values that stand for "no value", as 1e36 in the cells of a field that have none: codecs whose
// error follows the largest values of an array, or of a block, destroy all others beside them.
#pragma once

#include <cstdint>
#include <optional>

#include "message/message.h"
#include "message/sample.h"

namespace thinwire::message {

// Whether an encode looks for them: the codec loses values and states no bound of its own, as a
// share of the range, a rate and blocks under a scale do not.
bool looks_for_fill_values(const Coder& coder, const codec::Chunk& array,
                           const EncodeOptions& options);

// Few runs of the array, the same on hosts and GPUs, so that both decide alike.
Sample fill_sample(const codec::Chunk& array);

// Whether `count` sampled values are of which such a codec would destroy most:
// - at most four different ones lie within a factor of 2^20 of the largest, with others below;
// - 1 of 16 lies above 2^48, and 1 of 16 below 2^-48 and not at 0: words of the other byte order;
// - one is so large (from 2^126 on, in fp64 2^1022) that its coded value may be infinite.
// NaN and infinity say nothing.
bool would_destroy_most(const std::byte* values, Dtype dtype, std::uint64_t count);

// The same of an array in host memory, by its sample, without the values that are `fill`.
bool holds_fill_values(const codec::Chunk& array, const std::byte* source,
                       const std::optional<std::uint64_t>& fill);

// The same of a gathered sample, which is written to.
bool destroys_most_besides(const codec::Chunk& sample, std::byte* values,
                           const std::optional<std::uint64_t>& fill);

// kDeclined; says why, once a process.
Status declined_for_fill_values(const Coder& coder);

}  // namespace thinwire::message
