// The first bytes of an input of the targets of one codec: which array, which parameter.
#pragma once

#include "codec/codec.h"
#include "fuzz/input.h"
#include "message/message.h"

namespace thinwire::fuzz {

// Always an array and a parameter that the codec takes: what it refuses is for other targets.
struct Recipe {
  message::Coder coder;
  codec::Chunk array;
  std::uint8_t flags = 0;
  std::uint8_t shift = 0;  // of the memory, 0 to 7
};

inline constexpr std::size_t kRecipeBytes = 14;

// Most arrays have at most kFewValues elements, which is fast. If the flags' high half is
// kSomeFlags or kManyFlags it is kSomeValues or kManyValues: several units of a codec, and several
// chunks.
inline constexpr std::uint64_t kFewValues = 256;
inline constexpr std::uint64_t kSomeValues = 2048;
inline constexpr std::uint64_t kManyValues = 20480;
inline constexpr std::uint8_t kSomeFlags = 0xE0;
inline constexpr std::uint8_t kManyFlags = 0xF0;

Recipe read_recipe(const codec::Codec& codec, Reader& reader);

// Writes what read_recipe() reads back as the same; of the shift, 0.
Bytes write_recipe(const codec::Codec& codec, const codec::Chunk& array, std::uint64_t parameter,
                   std::uint8_t flags);

// Parameters that the codec takes for such arrays, from all over their range; up to `most`.
std::vector<std::uint64_t> sample_parameters(const codec::Codec& codec, Dtype dtype, int rank,
                                             std::size_t most);

// The values of an array, in one of kDataKinds ways: from the input's bytes repeated, or ramps,
// zeros and noise joined to them.
inline constexpr int kDataKinds = 4;
void fill_array(const codec::Chunk& array, int kind, ByteView source, std::byte* out);

// For every dtype, rank and kind of data, arrays and parameters that together reach every branch
// of a codec: calls body(array, parameter, values).
template <typename Body>
void for_each_sample(const codec::Codec& codec, const Body& body);

// Stores NaN in runs and by itself, as the missing values of an array of floats.
void make_holes(const codec::Chunk& array, MutableByteView values);

// The extents that for_each_sample() goes through at a rank.
std::vector<Shape> sample_shapes(int rank);

template <typename Body>
void for_each_sample(const codec::Codec& codec, const Body& body) {
  for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
    if (!codec.takes(static_cast<Dtype>(dtype))) continue;
    for (int rank = 1; rank <= codec.max_rank; ++rank) {
      for (const Shape& shape : sample_shapes(rank)) {
        const codec::Chunk array{static_cast<Dtype>(dtype), shape};
        const std::size_t parameters = shape.count() > kSomeValues ? 1 : 6;
        for (const auto parameter : sample_parameters(codec, array.dtype, rank, parameters)) {
          body(array, parameter);
        }
      }
    }
  }
}

}  // namespace thinwire::fuzz
