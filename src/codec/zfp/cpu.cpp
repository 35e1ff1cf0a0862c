#include <algorithm>
#include <cmath>

#include "base/parse.h"
#include "codec/zfp/block_stream.h"
#include "codec/zfp/core.h"
#include "codec/zfp/planes.h"
#include "codec/zfp/zfp.h"

namespace thinwire::codec {
namespace zfp {
namespace {

// The two loops over an array are compiled for wider vector units too and chosen at load time. The
// bytes are the same: the arithmetic on floats is one multiplication, never contracted. Sanitizers
// start after that choice is made, so under them there is none.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define THINWIRE_VECTOR_CLONES \
  [[gnu::flatten, gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
#else
#define THINWIRE_VECTOR_CLONES
#endif

constexpr Tables kTables = make_tables();

// Blocks that are worked on side by side: the loops over a group are what the compiler vectorises.
constexpr int kGroup = 8;
constexpr int kGroupValues = kGroup * kBlockValues;

struct Group {
  float values[kGroupValues];
  std::int32_t header[kGroup];
  float scale[kGroup];
  Block coefficients[kGroup];
  Planes planes[kGroup];
};

// Reads `count` values, 1 to kGroupValues. A last block that is not full repeats its own values, in
// the order of the format, so that its transform stays smooth.
void load_group(const std::byte* source, std::uint64_t count, Group& group) {
  std::memcpy(group.values, source, count * sizeof(float));
  if (count == kGroupValues) return;
  std::fill(group.values + count, group.values + kGroupValues, 0.0f);
  float* last = group.values + count / kBlockValues * kBlockValues;
  const auto present = count % kBlockValues;
  if (present == 0) return;
  if (present < 2) last[1] = last[0];
  if (present < 3) last[2] = last[1];
  last[3] = last[0];
}

// False where a value is NaN or infinite.
bool find_exponents(Group& group) {
  std::int32_t most = 0;
  for (int i = 0; i < kGroup; ++i) {
    const float* v = group.values + i * kBlockValues;
    const std::int32_t largest = std::max(std::max(magnitude_bits(v[0]), magnitude_bits(v[1])),
                                          std::max(magnitude_bits(v[2]), magnitude_bits(v[3])));
    group.header[i] = block_header(largest);
    group.scale[i] = forward_scale(largest);
    most = std::max(most, largest);
  }
  return most < kInfinityBits;
}

void transform_group(Group& group) {
  for (int i = 0; i < kGroup; ++i) {
    const float* v = group.values + i * kBlockValues;
    const float s = group.scale[i];
    const Block b = forward_transform(
        {quantise(v[0], s), quantise(v[1], s), quantise(v[2], s), quantise(v[3], s)});
    group.coefficients[i] = {to_negabinary(b.x), to_negabinary(b.y), to_negabinary(b.z),
                             to_negabinary(b.w)};
  }
  for (int i = 0; i < kGroup; ++i) group.planes[i] = to_planes(group.coefficients[i]);
}

void restore_group(Group& group) {
  for (int i = 0; i < kGroup; ++i) {
    const Block u = from_planes(group.planes[i]);
    const Block b = inverse_transform(
        {from_negabinary(u.x), from_negabinary(u.y), from_negabinary(u.z), from_negabinary(u.w)});
    const float s = group.scale[i];
    float* v = group.values + i * kBlockValues;
    v[0] = restore(b.x, s);
    v[1] = restore(b.y, s);
    v[2] = restore(b.z, s);
    v[3] = restore(b.w, s);
  }
}

void put_block(BlockWriter& writer, const Group& group, int i, int block_bits) {
  const auto header = static_cast<std::uint64_t>(group.header[i]);
  if (block_bits <= 64) {
    const auto stream =
        encode_planes<std::uint64_t>(kTables, group.coefficients[i], group.planes[i]);
    writer.put((reverse_bits(stream) << kHeaderBits | header) & low_bits_mask(block_bits),
               block_bits);
    return;
  }
  const auto stream = encode_planes<Uint128>(kTables, group.coefficients[i], group.planes[i]);
  const std::uint64_t first = reverse_bits(top_of(stream));
  const std::uint64_t second = reverse_bits(static_cast<std::uint64_t>(stream));
  writer.put(first << kHeaderBits | header, 64);
  writer.put((second << kHeaderBits | first >> (64 - kHeaderBits)) & low_bits_mask(block_bits - 64),
             block_bits - 64);
}

void get_block(BlockReader& reader, Group& group, int i, int block_bits) {
  const std::uint64_t first = reader.get(std::min(block_bits, 64));
  const std::uint64_t second = block_bits > 64 ? reader.get(block_bits - 64) : 0;
  const auto header = static_cast<std::uint32_t>(first) & 0x1ff;
  const int budget = block_bits - kHeaderBits;
  group.scale[i] = inverse_scale(header);
  if ((header & 1) == 0) {
    group.planes[i] = {};
  } else if (block_bits <= 64) {
    group.planes[i] = decode_planes(kTables, reverse_bits(first >> kHeaderBits), budget);
  } else {
    const std::uint64_t low = first >> kHeaderBits | second << (64 - kHeaderBits);
    group.planes[i] = decode_planes(
        kTables, Uint128{reverse_bits(low)} << 64 | reverse_bits(second >> kHeaderBits), budget);
  }
}

// How many blocks of a group of `count` values are part of the array.
int blocks_of(std::uint64_t count) { return static_cast<int>((count + 3) / kBlockValues); }

THINWIRE_VECTOR_CLONES bool encode_values(const std::byte* source, std::uint64_t count,
                                          int block_bits, std::byte* out) {
  BlockWriter writer(out);
  Group group;
  for (std::uint64_t done = 0; done < count; done += kGroupValues) {
    const auto values = std::min<std::uint64_t>(count - done, kGroupValues);
    load_group(source + done * sizeof(float), values, group);
    if (!find_exponents(group)) return false;
    transform_group(group);
    for (int i = 0; i < blocks_of(values); ++i) put_block(writer, group, i, block_bits);
  }
  writer.finish();
  return true;
}

THINWIRE_VECTOR_CLONES void decode_values(const std::byte* encoded, std::uint64_t count,
                                          int block_bits, std::byte* out) {
  BlockReader reader(encoded);
  Group group{};
  for (std::uint64_t done = 0; done < count; done += kGroupValues) {
    const auto values = std::min<std::uint64_t>(count - done, kGroupValues);
    for (int i = 0; i < blocks_of(values); ++i) get_block(reader, group, i, block_bits);
    restore_group(group);
    std::memcpy(out + done * sizeof(float), group.values, values * sizeof(float));
  }
}

}  // namespace
}  // namespace zfp

namespace {

using namespace zfp;

Status invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

// The word is the number of bits of a block, four times the rate.
Result<std::uint64_t> parse(std::span<const Option> options) {
  std::uint64_t parameter = 0;
  for (const Option& option : options) {
    if (option.key != "rate") {
      return invalid("zfp: unknown option '" + std::string(option.key) +
                     "'; it takes rate=<bits per value>");
    }
    const auto rate = parse_number(option.value);
    if (!rate.ok()) return invalid("zfp: rate: " + rate.status().message());
    const double block_bits = std::floor(*rate * kBlockValues + 0.5);
    if (!(block_bits >= kMinBlockBits && block_bits <= kMaxBlockBits)) {
      return invalid("zfp: rate=" + std::string(option.value) +
                     " is not between 2.25 and 32 bits per value");
    }
    parameter = static_cast<std::uint64_t>(block_bits);
  }
  if (parameter == 0) return invalid("zfp: rate=<bits per value> is missing, as in zfp:rate=16");
  return parameter;
}

std::string describe(std::uint64_t parameter) {
  constexpr const char* kQuarters[] = {"", ".25", ".5", ".75"};
  return "rate=" + std::to_string(parameter / 4) + kQuarters[parameter % 4];
}

Status check(std::uint64_t parameter, Dtype dtype, int rank) {
  if (parameter < kMinBlockBits || parameter > kMaxBlockBits) {
    return {StatusCode::kDamaged, "zfp: the parameter is not 9 to 128 bits per block"};
  }
  if (dtype != Dtype::kF32) {
    return {StatusCode::kUnsupported, std::string("zfp: no coding for ") + dtype_name(dtype)};
  }
  if (rank != 1) return {StatusCode::kUnsupported, "zfp: only arrays of rank 1"};
  return {};
}

std::uint64_t chunk_extent(const Shape&, Dtype, std::uint64_t) { return kChunkValues; }

std::uint64_t bound(const Chunk& chunk, std::uint64_t parameter) {
  return encoded_bytes(chunk.shape.count(), static_cast<int>(parameter));
}

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t parameter,
                             std::byte* out) {
  if (!encode_values(source, chunk.shape.count(), static_cast<int>(parameter), out)) {
    return {StatusCode::kDeclined, "zfp: a value is NaN or infinite"};
  }
  return bound(chunk, parameter);
}

Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t parameter, std::byte* out) {
  if (encoded.size() != bound(chunk, parameter)) {
    return {StatusCode::kDamaged, "zfp: the chunk has another length than its shape and rate give"};
  }
  decode_values(encoded.data(), chunk.shape.count(), static_cast<int>(parameter), out);
  return {};
}

}  // namespace

const Codec kZfp = {
    .id = 1,
    .name = "zfp",
    .summary = "ZFP at a fixed rate: lossy, byte-identical to libzfp",
    .options = "rate=<bits per value>",
    .example = "zfp:rate=16",
    .version = 0,
    .lossless = false,
    .fixed_size = true,
    .dtypes = dtype_bit(Dtype::kF32),
    .max_rank = 1,
    .parse = parse,
    .describe = describe,
    .check = check,
    .chunk_extent = chunk_extent,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};

}  // namespace thinwire::codec
