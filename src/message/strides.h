// Values that come in tuples: codecs by the stride in which values return.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "message/automatic.h"
#include "message/message.h"

namespace thinwire::message {

// The codec with these options, which it must take.
Coder coder_of(const codec::Codec& codec, std::span<const codec::Option> options = {});

// The codec with this stride, which it must take.
Coder with_stride(const codec::Codec& codec, int stride);

// The codec with strides of 1, 2, 3 and more, up to the most that it takes; nothing of one that
// takes none.
std::span<const Coder> by_stride(const codec::Codec& codec);

// The stride of a coder of by_stride(); 1 for a codec that takes no strides.
std::size_t stride_of(const Coder& coder);

// Strides that say whether there are tuples at all: most that are likely divide one of them. Three
// for itself, since it is the most frequent, and nearer values are more alike.
inline constexpr std::array<std::size_t, 4> kFirstStrides = {3, 18, 24, 30};

// Factors that may be left of a stride that is a multiple of the least one.
inline constexpr std::array<std::size_t, 3> kStrideDivisors = {2, 3, 5};

// The ways in which the candidates of "auto" may code an array.

inline bool has_axes(const Shape& shape) {
  return std::ranges::count_if(shape.extent.begin(), shape.extent.begin() + shape.rank,
                               [](std::uint64_t extent) { return extent > 1; }) > 1;
}

inline bool has_slow_candidate(Dtype dtype) {
  const std::span<const Coder> all = automatic_candidates(dtype);
  return !all.empty() && all.back().codec->slow;
}

inline std::span<const Coder> fast_candidates(Dtype dtype) {
  const std::span<const Coder> all = automatic_candidates(dtype);
  return all.first(all.size() - (has_slow_candidate(dtype) ? 1 : 0));
}

// Calls visit(coder) for each way in which a fast candidate may code the array.
template <typename Visit>
void for_each_way(const codec::Chunk& array, Visit&& visit) {
  for (const Coder& coder : fast_candidates(array.dtype)) {
    visit(coder);
    if (coder.codec->flat || !has_axes(array.shape)) continue;
    Coder as_line = coder;
    as_line.as_line = true;
    visit(as_line);
  }
}

inline bool sees_axes(const Coder& coder, const codec::Chunk& array) {
  return !coder.codec->flat && !coder.as_line && has_axes(array.shape);
}

}  // namespace thinwire::message
