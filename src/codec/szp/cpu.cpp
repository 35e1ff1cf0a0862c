// Codec 5: szp, error-bounded. See spec/codec-szp.md.
#include <cmath>

#include "base/parse.h"
#include "codec/registry.h"
#include "codec/szp/coder.h"
#include "codec/szp/core.h"
#include "codec/szp/format.h"

namespace thinwire::codec {
namespace {

using namespace szp;

Status invalid(const std::string& message) { return {StatusCode::kInvalidArgument, message}; }

Result<std::uint64_t> parse(std::span<const Option> options) {
  if (options.size() != 1) return invalid("szp takes abs=<bound> or rel=<share of the range>");
  const Option& option = options.front();
  const bool is_relative = option.key == "rel";
  if (!is_relative && option.key != "abs") {
    return invalid("szp: unknown option '" + std::string(option.key) + "'; it takes abs or rel");
  }
  const auto bound = parse_number(option.value);
  if (!bound.ok())
    return invalid("szp: " + std::string(option.key) + ": " + bound.status().message());
  if (is_relative && !(*bound > 0 && *bound <= 1)) {
    return invalid("szp: rel is above 0 and at most 1");
  }
  if (*bound < 0) return invalid("szp: abs is at least 0");
  if (*bound == 0) return std::uint64_t{0};
  return to_bits(*bound) | (is_relative ? kOpenParameter : 0);
}

std::string describe(std::uint64_t parameter) {
  const std::string bound = number_text(from_bits<double>(parameter & ~kOpenParameter));
  return (szp::is_open(parameter) ? "rel=" : "abs=") + bound;
}

std::uint64_t with_bound(std::uint64_t, double bound) { return to_bits(bound); }

double bound_of(std::uint64_t parameter) {
  return szp::is_open(parameter) ? 0 : from_bits<double>(parameter);
}

template <typename Value>
Spacing spacing_of(std::uint64_t parameter) {
  const Lattice<Value> lattice = make_lattice<Value>(parameter);
  return {lattice.exists() ? double{lattice.step} : 0, double{ValueTraits<Value>::kLimit}};
}

Spacing spacing(std::uint64_t parameter, Dtype dtype) {
  return dtype == Dtype::kF32 ? spacing_of<float>(parameter) : spacing_of<double>(parameter);
}

Status check(std::uint64_t parameter, Dtype, int) {
  if (is_bound(parameter & ~kOpenParameter)) return {};
  return {StatusCode::kDamaged, "szp: the parameter is no bound"};
}

Shape chunk_shape(const Shape& shape, Dtype, std::uint64_t) {
  Shape box = shape;
  const std::uint64_t edge = box_edge(shape.rank);
  for (int axis = 0; axis < shape.rank; ++axis) box.extent[static_cast<std::size_t>(axis)] = edge;
  return box;
}

std::uint64_t bound(const Chunk& chunk, std::uint64_t) { return chunk.raw_bytes(); }

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  return encode_box(source, chunk, parameter, out);
}

}  // namespace

const Codec kSzp = {
    .id = 5,
    .name = "szp",
    .summary = "lossy within an error bound: quantised differences, packed by tiles",
    .options = "abs=<bound> | rel=<share of the range>",
    .example = "szp:abs=1e-4",
    .version = 0,
    .lossless = false,
    .fixed_size = false,
    .dtypes = dtype_bit(Dtype::kF32) | dtype_bit(Dtype::kF64),
    .max_rank = szp::kMaxRank,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode_box,
    .is_open = szp::is_open,
    .any_open = kOpenParameter | 1,
    .resolve = close,
    .with_bound = with_bound,
    .bound_of = bound_of,
    .spacing = spacing,
#ifdef THINWIRE_CUDA
    .device = &kSzpDevice,
#endif
};

}  // namespace thinwire::codec
