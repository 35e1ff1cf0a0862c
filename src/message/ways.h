// The ways in which the candidates of "auto" may code an array.
#pragma once

#include <algorithm>
#include <span>

#include "message/automatic.h"

namespace thinwire::message {

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
