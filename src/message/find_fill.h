// Which values of an array are missing, as the option fill= says it; host memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codec/fill.h"
#include "message/message.h"

namespace thinwire::message {

// The bits of the missing values; nothing if there are none. Under "auto" they are those of the
// most frequent value of at most four that stand apart: within a factor of 2^20 of the largest,
// with others below, or that is above 2^48; or NaN, if the first one's bits are more frequent. The
// whole array is looked at: a rare one would destroy the others as well. fp16 has NaN alone.
std::optional<std::uint64_t> find_fill(const codec::Fill& fill, const codec::Chunk& array,
                                       const std::byte* source);

// The bits of a value that a spec names, in the array's type; nothing if it is too large for that.
std::optional<std::uint64_t> named_bits(double value, Dtype dtype);

// The parameter that an open one of `coder` becomes by the values that are not missing.
std::uint64_t resolve_without(const Coder& coder, const codec::Chunk& array,
                              const std::byte* source, std::uint64_t fill);

// The option as a frame with that fill value has it: "fill=nan", "fill=1e+36".
std::string fill_text(Dtype dtype, std::uint64_t fill);

}  // namespace thinwire::message
