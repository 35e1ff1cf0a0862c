// Values that come in tuples: codecs by the stride in which values return.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

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

}  // namespace thinwire::message
