#include "fuzz/recipe.h"

#include <cmath>

#include "codec/spec.h"

namespace thinwire::fuzz {
namespace {

std::vector<Dtype> dtypes_of(const codec::Codec& codec) {
  std::vector<Dtype> dtypes;
  for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
    if (codec.takes(static_cast<Dtype>(dtype))) dtypes.push_back(static_cast<Dtype>(dtype));
  }
  return dtypes;
}

std::uint64_t most_values(std::uint8_t flags) {
  if ((flags & 0xF0) == kManyFlags) return kManyValues;
  return (flags & 0xF0) == kSomeFlags ? kSomeValues : kFewValues;
}

// Halves the largest extents until the array is small enough.
void shrink(Shape& shape, std::uint64_t most) {
  while (shape.count() > most) {
    auto& largest = *std::max_element(shape.extent.begin(), shape.extent.begin() + shape.rank);
    largest = ceil_div(largest, 2);
  }
}

// A parameter that frames may carry.
bool is_sound(const codec::Codec& codec, std::uint64_t parameter, Dtype dtype, int rank) {
  return codec.check(parameter, dtype, rank).ok() && !codec.open(parameter);
}

// A recipe has 16 bits of a parameter: the highest of one that is a bound, the lowest of others.
int shift_of(const codec::Codec& codec) { return codec.resolve != nullptr ? 48 : 0; }

// The parameter nearest below the word in bits that frames may carry; its example's if none is.
std::uint64_t sound_parameter(const codec::Codec& codec, std::uint64_t word, Dtype dtype,
                              int rank) {
  for (; word != 0; word >>= 1) {
    const std::uint64_t parameter = word << shift_of(codec);
    if (is_sound(codec, parameter, dtype, rank)) return parameter;
  }
  if (is_sound(codec, 0, dtype, rank)) return 0;
  const auto example = codec::parse_spec(codec.example);
  THINWIRE_FUZZ_CHECK(example.ok() && is_sound(codec, example->parameter, dtype, rank));
  return example->parameter;
}

}  // namespace

Recipe read_recipe(const codec::Codec& codec, Reader& reader) {
  const std::vector<Dtype> dtypes = dtypes_of(codec);
  Recipe recipe;
  recipe.array.dtype = dtypes[reader.take<std::uint8_t>() % dtypes.size()];
  const auto rank = reader.take<std::uint8_t>();
  recipe.array.shape.rank = 1 + rank % codec.max_rank;
  recipe.flags = reader.take<std::uint8_t>();
  recipe.shift = reader.take<std::uint8_t>() % 8;
  const auto word = reader.take<std::uint16_t>();
  recipe.coder = {&codec,
                  sound_parameter(codec, word, recipe.array.dtype, recipe.array.shape.rank)};
  Shape& shape = recipe.array.shape;
  for (int axis = 0; axis < kMaxRank; ++axis) {
    const auto extent = reader.take<std::uint16_t>();
    if (axis >= shape.rank) continue;
    shape.extent[axis] = shape.rank > 1 && extent == 0 ? 1 : extent;
  }
  shrink(shape, most_values(recipe.flags));
  return recipe;
}

Bytes write_recipe(const codec::Codec& codec, const codec::Chunk& array, std::uint64_t parameter,
                   std::uint8_t flags) {
  const std::vector<Dtype> dtypes = dtypes_of(codec);
  const auto dtype = std::find(dtypes.begin(), dtypes.end(), array.dtype) - dtypes.begin();
  Bytes recipe(kRecipeBytes);
  if (array.shape.count() > kFewValues) {
    flags |= array.shape.count() > kSomeValues ? kManyFlags : kSomeFlags;
  }
  store(recipe.data(), static_cast<std::uint8_t>(dtype));
  store(recipe.data() + 1, static_cast<std::uint8_t>(array.shape.rank - 1));
  store(recipe.data() + 2, flags);
  store(recipe.data() + 4, static_cast<std::uint16_t>(parameter >> shift_of(codec)));
  for (int axis = 0; axis < kMaxRank; ++axis) {
    store(recipe.data() + 6 + 2 * axis, static_cast<std::uint16_t>(array.shape.extent[axis]));
  }
  return recipe;
}

std::vector<std::uint64_t> sample_parameters(const codec::Codec& codec, Dtype dtype, int rank,
                                             std::size_t most) {
  std::vector<std::uint64_t> found;
  // The first one is of the codec's newest version.
  const auto example = codec::parse_spec(codec.example);
  const std::uint64_t first = codec.older_versions > 0 ? example->parameter : 512;
  for (const std::uint64_t word :
       {first, std::uint64_t{512}, std::uint64_t{3}, first + 2, std::uint64_t{0}, std::uint64_t{1},
        std::uint64_t{32}, std::uint64_t{2048}, std::uint64_t{1029}, std::uint64_t{200},
        std::uint64_t{4096}}) {
    const bool is_known = std::ranges::find(found, word) != found.end();
    if (!is_known && codec.check(word, dtype, rank).ok()) found.push_back(word);
  }
  if (found.empty()) found.push_back(sound_parameter(codec, 0, dtype, rank));
  found.resize(std::min(found.size(), most));
  return found;
}

void fill_array(const codec::Chunk& array, int kind, ByteView source, std::byte* out) {
  const std::uint64_t bytes = array.raw_bytes();
  repeat(source, {out, bytes});
  if (kind == 2 && source.size() < bytes) std::fill(out + source.size(), out + bytes, std::byte{0});
  if (kind == 0 || kind == 2) return;
  const std::uint64_t width = dtype_size(array.dtype);
  Random random(bytes);
  for (std::uint64_t at = 0; at + width <= bytes; at += width) {
    // A ramp in the low bytes of each value, or noise in its lowest.
    const std::uint64_t low = kind == 1 ? at / width : random.below(256);
    std::uint64_t word = 0;
    std::memcpy(&word, out + at, width);
    word += low;
    std::memcpy(out + at, &word, width);
  }
}

void make_holes(const codec::Chunk& array, MutableByteView values) {
  const std::uint64_t width = dtype_size(array.dtype);
  for (std::uint64_t at = 0; at < array.shape.count(); ++at) {
    if (at % 11 != 3 && at / 16 % 3 != 1) continue;
    // Not all ones, which read as an integer are -1.
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(at * width), width, std::byte{0x7F});
    store(values.data() + (at + 1) * width - 2, std::uint16_t{0xFFFF});
  }
}

std::vector<Shape> sample_shapes(int rank) {
  const auto shape = [rank](std::uint64_t slowest, std::uint64_t other) {
    Shape made{.rank = rank};
    made.extent[0] = slowest;
    for (int axis = 1; axis < rank; ++axis) made.extent[axis] = other + (axis - 1);
    return made;
  };
  if (rank == 1) {
    return {Shape::line(0),  Shape::line(1),    Shape::line(2),    Shape::line(3),
            Shape::line(66), Shape::line(1100), Shape::line(4100), Shape::line(16390)};
  }
  if (rank == 2) return {shape(1, 1), shape(4, 8), shape(6, 7), shape(260, 70)};
  return {shape(1, 1), shape(4, 4), shape(5, 2), shape(6, 3)};
}

}  // namespace thinwire::fuzz
