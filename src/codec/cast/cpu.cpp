// Codec 14: cast, values as those of a narrower type. See spec/codec-cast.md.
#include <algorithm>
#include <optional>

#include "base/parse.h"
#include "base/vector_units.h"
#include "codec/cast/core.h"
#include "codec/draw.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using namespace cast;

// ---- One chunk ----

// Returns whether no value is lost. `key`: of the chunk, for stochastic rounding.
template <Dtype kFrom, Dtype kTo, bool kStochastic>
bool narrow_all(const std::byte* source, std::uint32_t values, std::uint32_t key, std::byte* out) {
  bool lost = false;
  for (std::uint32_t at = 0; at < values; ++at) {
    const auto bits = load<WordOf<kFrom>>(source + at * dtype_size(kFrom));
    const auto code = narrow<kFrom, kTo, kStochastic>(bits, kStochastic ? drawn_for(key, at) : 0);
    lost |= is_lost<kFrom, kTo>(bits, code);
    store(out + at * dtype_size(kTo), code);
  }
  return !lost;
}

template <Dtype kFrom, Dtype kTo>
void widen_all(const std::byte* in, std::uint32_t values, std::byte* out) {
  for (std::uint32_t at = 0; at < values; ++at) {
    const auto code = load<WordOf<kTo>>(in + at * dtype_size(kTo));
    store(out + at * dtype_size(kFrom), widen<kFrom, kTo>(code));
  }
}

// The cast that programs make most, both ways. Clones cannot be templates.
THINWIRE_VECTOR_CLONES bool narrow_to_bf16(const std::byte* source, std::uint32_t values,
                                           std::byte* out) {
  return narrow_all<Dtype::kF32, Dtype::kBf16, false>(source, values, 0, out);
}
THINWIRE_VECTOR_CLONES void widen_bf16(const std::byte* in, std::uint32_t values, std::byte* out) {
  widen_all<Dtype::kF32, Dtype::kBf16>(in, values, out);
}

// Calls work with the array's type and the narrower one as template arguments.
template <typename Work>
auto with_types(Dtype from, Dtype to, Work&& work) {
  if (from == Dtype::kF32) {
    return to == Dtype::kBf16 ? work.template operator()<Dtype::kF32, Dtype::kBf16>()
                              : work.template operator()<Dtype::kF32, Dtype::kF16>();
  }
  if (to == Dtype::kBf16) return work.template operator()<Dtype::kF64, Dtype::kBf16>();
  if (to == Dtype::kF16) return work.template operator()<Dtype::kF64, Dtype::kF16>();
  return work.template operator()<Dtype::kF64, Dtype::kF32>();
}

// ---- The row of the registry ----

constexpr const char* kOptionsText =
    "to=<bf16, fp16 or fp32>, round=<nearest or stochastic>, seed=<number>";

Status refused(const Option& option) {
  return {StatusCode::kInvalidArgument, "cast: '" + std::string(option.key) + "=" +
                                            std::string(option.value) +
                                            "' is none of its options; it takes " + kOptionsText};
}

bool take(Options& options, std::optional<std::uint32_t>& seed, const Option& option) {
  const auto& [key, value] = option;
  if (key == "to") {
    options.to = value == "fp16" ? Dtype::kF16 : value == "fp32" ? Dtype::kF32 : Dtype::kBf16;
    return value == "fp16" || value == "fp32" || value == "bf16";
  }
  if (key == "round") {
    options.stochastic = value == "stochastic";
    return options.stochastic || value == "nearest";
  }
  const auto number = parse_whole_number(value);
  if (key != "seed" || !number || *number > UINT32_MAX) return false;
  seed = static_cast<std::uint32_t>(*number);
  return true;
}

Result<std::uint64_t> parse(std::span<const Option> options) {
  Options read;
  std::optional<std::uint32_t> seed;
  for (const Option& option : options) {
    if (!take(read, seed, option)) return refused(option);
  }
  if (seed && !read.stochastic) {
    return {StatusCode::kInvalidArgument, "cast: seed is for round=stochastic"};
  }
  read.seed = seed.value_or(0);
  return pack(read);
}

std::string describe(std::uint64_t parameter) {
  const Options options = unpack(parameter);
  std::string text = options.to == Dtype::kBf16  ? "to=bf16"
                     : options.to == Dtype::kF16 ? "to=fp16"
                                                 : "to=fp32";
  if (options.stochastic) text += ",round=stochastic,seed=" + std::to_string(options.seed);
  return text;
}

// A type of no more bits would gain nothing.
bool takes_under(std::uint64_t parameter, Dtype dtype) {
  return dtype_size(unpack(parameter).to) < dtype_size(dtype);
}

Status check(std::uint64_t parameter, Dtype dtype, int) {
  if (!is_sound(parameter)) {
    return {StatusCode::kDamaged, "cast: the parameter has fields that are not defined"};
  }
  if (takes_under(parameter, dtype)) return {};
  return {StatusCode::kUnsupported, std::string("cast: ") + dtype_name(dtype) +
                                        " has no more bits than what " + describe(parameter) +
                                        " makes of it"};
}

Shape chunk_shape(const Shape&, Dtype, std::uint64_t parameter) {
  return Shape::line(chunk_values(unpack(parameter).to));
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t parameter) {
  return payload_bytes(unpack(parameter).to, static_cast<std::uint32_t>(chunk.shape.count()));
}

template <Dtype kFrom, Dtype kTo>
bool encode_values(const std::byte* source, std::uint32_t values, const Chunk& chunk,
                   const Options& options, std::byte* out) {
  if (options.stochastic) {
    const std::uint32_t key = chunk_key(options.seed, chunk.index);
    return narrow_all<kFrom, kTo, true>(source, values, key, out);
  }
  if constexpr (kFrom == Dtype::kF32 && kTo == Dtype::kBf16) {
    return narrow_to_bf16(source, values, out);
  } else {
    return narrow_all<kFrom, kTo, false>(source, values, 0, out);
  }
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  const Options options = unpack(parameter);
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  const std::uint64_t bytes = bound(chunk, parameter);
  std::fill(out + values * dtype_size(options.to), out + bytes, std::byte{0});
  const bool kept = with_types(chunk.dtype, options.to, [&]<Dtype kFrom, Dtype kTo>() {
    return encode_values<kFrom, kTo>(source, values, chunk, options, out);
  });
  if (!kept) {
    return {StatusCode::kDeclined, "cast: a value is too large for " + describe(parameter)};
  }
  return bytes;
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  if (encoded.size() != bound(chunk, parameter)) {
    return {StatusCode::kDamaged, "cast: the chunk has another length than its parameter gives"};
  }
  const auto values = static_cast<std::uint32_t>(chunk.shape.count());
  with_types(chunk.dtype, unpack(parameter).to, [&]<Dtype kFrom, Dtype kTo>() {
    if constexpr (kFrom == Dtype::kF32 && kTo == Dtype::kBf16) {
      widen_bf16(encoded.data(), values, out);
    } else {
      widen_all<kFrom, kTo>(encoded.data(), values, out);
    }
  });
  return {};
}

}  // namespace

const Codec kCast = {
    .id = 14,
    .name = "cast",
    .summary = "values of a narrower type: lossy, at the speed of a copy",
    .options = kOptionsText,
    .example = "cast:to=bf16",
    .version = 0,
    .lossless = false,
    .fixed_size = true,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64),
    .max_rank = kMaxRank,
    .flat = true,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .each_by_itself = true,
    .takes_under = takes_under,
#ifdef THINWIRE_CUDA
    .device = &kCastDevice,
#endif
};

}  // namespace thinwire::codec
