// Codec 7: blockq, blocks of small integers or 8-bit floats under a scale. See
// spec/codec-blockq.md.
#include <algorithm>
#include <bit>
#include <optional>

#include "codec/blockq/core.h"
#include "codec/blockq/parameter.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using namespace blockq;

// ---- One block ----

// Butterflies over `count` values, a power of two.
void rotate(float* values, std::uint32_t count) {
  for (std::uint32_t width = 1; width < count; width *= 2) {
    for (std::uint32_t at = 0; at < count; at = ((at | width) + 1) & ~width) {
      const float low = values[at], high = values[at + width];
      values[at] = low + high;
      values[at + width] = low - high;
    }
  }
}

template <Dtype kDtype>
void load_values(const std::byte* source, std::uint32_t count, std::uint32_t block, float* values) {
  using Word = WordOf<kDtype>;
  for (std::uint32_t at = 0; at < count; ++at) {
    values[at] = number_of<kDtype>(load<Word>(source + at * sizeof(Word)));
  }
  std::fill(values + count, values + block, 0.0f);
}

template <Dtype kDtype>
void store_values(const float* values, std::uint32_t count, std::byte* out) {
  using Word = WordOf<kDtype>;
  for (std::uint32_t at = 0; at < count; ++at) {
    store(out + at * sizeof(Word), word_of<kDtype>(saturate<kDtype>(values[at])));
  }
}

template <Element kElement>
void put_elements(const std::uint32_t* elements, std::uint32_t count, std::byte* out) {
  for (std::uint32_t at = 0; at < count; ++at) {
    if constexpr (kElement != Element::kInt4) {
      out[at] = static_cast<std::byte>(elements[at]);
    } else if (at % 2 == 0) {
      out[at / 2] = static_cast<std::byte>((elements[at] & 15) | elements[at + 1] << 4);
    }
  }
}

template <Element kElement>
void get_elements(const std::byte* in, std::uint32_t count, float* values) {
  for (std::uint32_t at = 0; at < count; ++at) {
    if constexpr (kElement == Element::kInt8) {
      values[at] = static_cast<float>(static_cast<std::int8_t>(in[at]));
    } else if constexpr (kElement == Element::kE4m3) {
      values[at] = float_of_e4m3(static_cast<std::uint32_t>(in[at]));
    } else {
      const auto half = static_cast<std::uint32_t>(in[at / 2]) >> (at % 2 * 4) & 15;
      values[at] = static_cast<float>(static_cast<int>(half ^ 8) - 8);
    }
  }
}

// The position of a block in its chunk, and the chunk's options.
struct Place {
  Options options;
  std::uint32_t key;    // of stochastic rounding
  std::uint32_t first;  // its first value in the chunk
};

// The block's elements at `out`; its scale, or nothing if it is declined.
template <Element kElement>
std::optional<std::uint32_t> encode_block(float* values, const Place& place, std::byte* out) {
  const std::uint32_t block = place.options.block;
  if (place.options.rotated) {
    const float part = 1.0f / static_cast<float>(block);
    for (std::uint32_t at = 0; at < block; ++at) values[at] *= part;
    rotate(values, block);
  }
  std::uint32_t largest = 0;
  for (std::uint32_t at = 0; at < block; ++at) {
    largest = std::max(largest, bits_of(values[at]) & 0x7FFFFFFFu);
  }
  if (largest >= kInfinityBits) return std::nullopt;
  const std::uint32_t scale = scale_bits<kElement>(largest, place.options.power_of_two);
  const float inverse = reciprocal(float_of(scale));
  std::uint32_t elements[kMostBlockValues];
  if (place.options.stochastic) {
    for (std::uint32_t at = 0; at < block; ++at) {
      const std::uint32_t drawn = drawn_for(place.key, place.first + at);
      elements[at] = stochastic<kElement>(values[at] * inverse, drawn);
    }
  } else {
    for (std::uint32_t at = 0; at < block; ++at) {
      elements[at] = nearest<kElement>(values[at] * inverse);
    }
  }
  put_elements<kElement>(elements, block, out);
  return scale_code(scale, place.options.power_of_two);
}

// ---- One chunk ----

template <Dtype kDtype, Element kElement>
bool encode_values(const std::byte* source, const Chunk& chunk, const Options& options,
                   std::byte* out) {
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  const std::uint32_t block_bytes = options.block / 8 * options.element_bits();
  std::byte* scale = out + options.element_bytes(values);
  Place place{options, chunk_key(options.seed, chunk.index), 0};
  float block[kMostBlockValues];
  for (; place.first < values; place.first += options.block) {
    load_values<kDtype>(source + place.first * dtype_size(kDtype),
                        std::min(options.block, values - place.first), options.block, block);
    const auto code =
        encode_block<kElement>(block, place, out + place.first / options.block * block_bytes);
    if (!code) return false;
    store(scale, static_cast<std::uint8_t>(*code));
    if (!options.power_of_two) store(scale, static_cast<std::uint16_t>(*code));
    scale += options.scale_bytes();
  }
  std::fill(scale, out + options.payload_bytes(values), std::byte{0});
  return true;
}

template <Dtype kDtype, Element kElement>
void decode_values(const std::byte* in, std::uint32_t values, const Options& options,
                   std::byte* out) {
  const std::uint32_t block_bytes = options.block / 8 * options.element_bits();
  const std::byte* const scales = in + options.element_bytes(values);
  float block[kMostBlockValues];
  for (std::uint32_t first = 0; first < values; first += options.block) {
    const std::uint32_t number = first / options.block;
    const std::byte* const at = scales + number * options.scale_bytes();
    const float scale =
        scale_of(options.power_of_two ? load<std::uint8_t>(at) : load<std::uint16_t>(at),
                 options.power_of_two);
    get_elements<kElement>(in + number * block_bytes, options.block, block);
    if (options.rotated) rotate(block, options.block);
    for (std::uint32_t each = 0; each < options.block; ++each) block[each] *= scale;
    store_values<kDtype>(block, std::min(options.block, values - first),
                         out + first * dtype_size(kDtype));
  }
}

// Calls work with the dtype and the element as template arguments.
template <typename Work>
auto with_types(Dtype dtype, Element element, Work&& work) {
  const auto with_element = [&]<Dtype kDtype>() {
    switch (element) {
      case Element::kInt4:
        return work.template operator()<kDtype, Element::kInt4>();
      case Element::kE4m3:
        return work.template operator()<kDtype, Element::kE4m3>();
      default:
        return work.template operator()<kDtype, Element::kInt8>();
    }
  };
  switch (dtype) {
    case Dtype::kF16:
      return with_element.template operator()<Dtype::kF16>();
    case Dtype::kBf16:
      return with_element.template operator()<Dtype::kBf16>();
    default:
      return with_element.template operator()<Dtype::kF32>();
  }
}

// ---- The row of the registry ----

Shape chunk_shape(const Shape&, Dtype, std::uint64_t) { return Shape::line(kChunkValues); }

std::uint64_t bound(const Chunk& chunk, std::uint64_t parameter) {
  return unpack(parameter).payload_bytes(static_cast<std::uint32_t>(chunk.shape.count()));
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  const Options options = unpack(parameter);
  const bool taken =
      with_types(chunk.dtype, options.element, [&]<Dtype kDtype, Element kElement>() {
        return encode_values<kDtype, kElement>(source, chunk, options, out);
      });
  if (!taken) return {StatusCode::kDeclined, "blockq: a value is NaN or infinite"};
  return bound(chunk, parameter);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  if (encoded.size() != bound(chunk, parameter)) {
    return {StatusCode::kDamaged, "blockq: the chunk has another length than its parameter gives"};
  }
  const Options options = unpack(parameter);
  with_types(chunk.dtype, options.element, [&]<Dtype kDtype, Element kElement>() {
    decode_values<kDtype, kElement>(encoded.data(), static_cast<std::uint32_t>(chunk.shape.count()),
                                    options, out);
  });
  return {};
}

}  // namespace

const Codec kBlockq = {
    .id = 7,
    .name = "blockq",
    .summary = "blocks of int8, int4 or fp8 under a scale: lossy, for gradients and weights",
    .options = kOptionsText,
    .example = "blockq:bits=8,block=32",
    .version = 0,
    .lossless = false,
    .fixed_size = true,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF16) | dtype_bit(Dtype::kBf16),
    .max_rank = kMaxRank,
    .flat = true,
    .parse = blockq::parse,
    .describe = blockq::describe,
    .check = blockq::check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
#ifdef THINWIRE_CUDA
    .device = &kBlockqDevice,
#endif
};

}  // namespace thinwire::codec
