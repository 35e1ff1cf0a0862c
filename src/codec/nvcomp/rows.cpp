#include "codec/nvcomp/rows.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <string>

#include "base/parse.h"
#include "codec/nvcomp/library.h"
#include "codec/nvcomp/settings.h"

namespace thinwire::codec {
namespace nvcomp {
namespace {

Status invalid(const Row& row, const std::string& what) {
  return {StatusCode::kInvalidArgument,
          std::string(row.name) + " takes " + row.options + "; " + what};
}

Status read_chunk(const Row& row, std::string_view text, Settings& settings) {
  const auto bytes = parse_size(text);
  if (!bytes.ok() || !std::has_single_bit(*bytes) || *bytes < 1u << kLeastChunkLog ||
      *bytes > 1u << kMostChunkLog) {
    return invalid(row, "chunk is a power of two from 4KiB to 1MiB");
  }
  settings.chunk_log = std::countr_zero(*bytes);
  return {};
}

Status read_algorithm(const Row& row, std::string_view text, Settings& settings) {
  if (text != "default" && text != "sparse") return invalid(row, "no other algorithm");
  settings.algorithm = text == "sparse" ? 1 : 0;
  return {};
}

// The step is the power of two at or below `text` times `scale`, as nvCOMP would round it.
Status read_step(const Row& row, std::string_view text, double scale, Settings& settings) {
  const auto number = parse_number(text);
  const double step = number.ok() ? *number * scale : 0;
  if (settings.lossy || !std::isnormal(step) || step < 0) {
    return invalid(row, "one of abs and delta, a positive number");
  }
  settings.lossy = true;
  settings.exponent = std::ilogb(step);
  return {};
}

Result<std::uint64_t> parse(const Row& row, std::span<const Option> options) {
  Settings settings{.chunk_log = row.chunk_log};
  for (const Option& option : options) {
    Status status;
    if (option.key == "chunk") {
      status = read_chunk(row, option.value, settings);
    } else if (option.key == "algorithm" && row.has_algorithms) {
      status = read_algorithm(row, option.value, settings);
    } else if ((option.key == "abs" || option.key == "delta") && !row.lossless) {
      status = read_step(row, option.value, option.key == "abs" ? 2 : 1, settings);
    } else {
      status = invalid(row, "not " + std::string(option.key));
    }
    if (!status.ok()) return status;
  }
  if (!row.lossless && !settings.lossy) return invalid(row, "the bound is missing");
  return pack(settings);
}

std::string describe(const Row& row, std::uint64_t parameter) {
  const Settings settings = unpack(parameter);
  std::string text;
  const auto add = [&](const std::string& item) { text += (text.empty() ? "" : ",") + item; };
  if (settings.lossy) {
    char digits[32];
    const double bound = std::ldexp(1.0, settings.exponent - 1);
    const auto end = std::to_chars(digits, digits + sizeof digits, bound).ptr;
    add("abs=" + std::string(digits, end));
  }
  if (settings.algorithm == 1) add("algorithm=sparse");
  if (settings.chunk_log != row.chunk_log) {
    add("chunk=" + std::to_string(1u << settings.chunk_log));
  }
  return text;
}

Status check(const Row& row, std::uint64_t parameter, Dtype dtype) {
  const Settings settings = unpack(parameter);
  const auto [least, most] = normal_exponents(dtype);
  const bool sound = parameter >> 32 == 0 && settings.chunk_log >= kLeastChunkLog &&
                     settings.chunk_log <= kMostChunkLog &&
                     settings.algorithm <= (row.has_algorithms ? 1 : 0) &&
                     settings.lossy != row.lossless &&
                     (!settings.lossy || (settings.exponent >= least && settings.exponent <= most));
  if (sound) return {};
  return {StatusCode::kDamaged,
          std::string(row.name) + ": the parameter is none for " + dtype_name(dtype)};
}

Shape chunk_shape(const Shape&, Dtype dtype, std::uint64_t parameter) {
  return Shape::line((std::uint64_t{1} << unpack(parameter).chunk_log) / dtype_size(dtype));
}

// Chunks that do not shrink are stored raw; nvCOMP's worst case is the workspace's business.
std::uint64_t bound(const Chunk& chunk, std::uint64_t) { return chunk.raw_bytes(); }

Result<std::uint64_t> encode(const std::byte*, const Chunk&, std::uint64_t, std::byte*) {
  return {StatusCode::kUnsupported, "nvCOMP codes arrays in GPU memory only"};
}

Status decode(ByteView, const Chunk&, std::uint64_t, std::byte*) {
  return {StatusCode::kUnsupported, "nvCOMP codes arrays in GPU memory only"};
}

Status available() {
#ifdef THINWIRE_CUDA
  return library_status();
#else
  return {StatusCode::kUnsupported, "this build has no GPU side"};
#endif
}

template <int kRow>
constexpr Codec make_codec() {
  constexpr const Row& row = kRows[kRow];
  return {
      .id = row.id,
      .name = row.name,
      .summary = row.summary,
      .options = row.options,
      .example = row.example,
      .version = 0,
      .lossless = row.lossless,
      .fixed_size = false,
      .dtypes = row.dtypes,
      .max_rank = kMaxRank,
      .flat = true,
      .parse = [](std::span<const Option> options) { return parse(kRows[kRow], options); },
      .describe = [](std::uint64_t parameter) { return describe(kRows[kRow], parameter); },
      .check = [](std::uint64_t parameter, Dtype dtype,
                  int) { return check(kRows[kRow], parameter, dtype); },
      .chunk_shape = chunk_shape,
      .bound = bound,
      .encode = encode,
      .decode = decode,
      .available = available,
      .gpu_only = true,
      .foreign = true,
#ifdef THINWIRE_CUDA
      .device = &kDevices[kRow],
#endif
  };
}

}  // namespace
}  // namespace nvcomp

constinit const Codec kNvcompAns = nvcomp::make_codec<0>();
constinit const Codec kNvcompBitcomp = nvcomp::make_codec<1>();
constinit const Codec kNvcompCascaded = nvcomp::make_codec<2>();
constinit const Codec kNvcompLz4 = nvcomp::make_codec<3>();
constinit const Codec kNvcompBitcompLossy = nvcomp::make_codec<4>();

}  // namespace thinwire::codec
