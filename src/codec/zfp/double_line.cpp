#include "codec/zfp/double_line.h"

#include <algorithm>
#include <cstring>

#include "base/vector_units.h"
#include "codec/zfp/bit_stream.h"
#include "codec/zfp/block.h"
#include "codec/zfp/block_bits.h"
#include "codec/zfp/double_group.h"
#include "codec/zfp/line_planes.h"
#include "codec/zfp/short_planes.h"

namespace thinwire::codec::zfp {
namespace {

constexpr Tables kTables = make_tables();
constexpr ShortPlanes kShortPlanes = make_short_planes();
constexpr PairCodes kPairCodes = make_pair_codes(true);
constexpr SearchTable kSearch = make_search_table();
constexpr int kHeader = kHeaderBits<double>;

// ---- Encoding ----

// The bits of a block that is not empty, and perhaps more.
template <bool kIsShort>
std::uint64_t block_of(const DoubleGroup& group, int at, int budget) {
  if constexpr (kIsShort) {
    return pair_stream(kPairCodes, group.high[at], budget) << kHeader | group.header[at];
  }
  const auto upper = [&](int i) { return static_cast<std::uint32_t>(group.wide[i][at] >> 32); };
  const auto stream = encode_planes<std::uint64_t>(
      kTables, {upper(0), upper(1), upper(2), upper(3)},
      {.high = group.high[at], .low = group.low[at], .pairs = group.pairs[at]});
  return reverse_bits(stream) << kHeader | group.header[at];
}

// ---- Decoding ----

// Most zeros at the front of a stream whose planes stay above the lowest two bits of the upper
// halves.
constexpr int kMostZeros = 8;

// False if the group is for decode_one_by_one().
bool get_planes(const std::uint64_t* blocks, int block_bits, DoubleGroup& group) {
  std::uint64_t odd = 0;
  for (int at = 0; at < kGroup; ++at) {
    const std::uint64_t stream = (blocks[at] & 1) != 0 ? blocks[at] >> kHeader : 0;
    const Planes planes = decode_planes(kTables, reverse_bits(stream), block_bits - kHeader);
    group.high[at] = planes.high;
    group.low[at] = planes.low;
    group.pairs[at] = planes.pairs;
    odd |= static_cast<std::uint64_t>((stream & low_bits_mask(kMostZeros + 1)) == 0) &
           static_cast<std::uint64_t>(stream != 0);
  }
  coefficients_of_planes(group);
  return odd == 0;
}

void get_short_planes(const std::uint64_t* blocks, int block_bits, DoubleGroup& group) {
  const std::uint32_t* table = kShortPlanes.of(block_bits - kHeader);
  for (int at = 0; at < kGroup; ++at) {
    const std::uint32_t bytes = (blocks[at] & 1) != 0 ? table[blocks[at] >> kHeader] : 0;
    for (int i = 0; i < kLineValues; ++i) {
      group.coefficients[i][at] = bytes << 8 * i & 0xff000000;
    }
  }
}

// Any blocks, one after the other.
void decode_one_by_one(const std::uint64_t* blocks, int block_bits, double* line) {
  for (int at = 0; at < kGroup; ++at) {
    BitReader stream(reinterpret_cast<const std::byte*>(blocks + at));
    ShortBlockReader block(stream, block_bits);
    LocalWords<kPlaneWords<double, 1>> planes;
    double values[kLineValues];
    decode_block<double, 1>(kSearch, block, block_bits, planes, values);
    std::memcpy(line + at * kLineValues, values, sizeof values);
  }
}

void decode_group(const std::uint64_t* blocks, int block_bits, DoubleGroup& group, double* line) {
  for (int at = 0; at < kGroup; ++at) {
    group.scale[at] = inverse_scale<double>(static_cast<std::uint32_t>(blocks[at]) & 0xfff);
  }
  const int budget = block_bits - kHeader;
  if (budget > 0 && budget <= kMaxShortStream) {
    get_short_planes(blocks, block_bits, group);
  } else if (!get_planes(blocks, block_bits, group)) {
    decode_one_by_one(blocks, block_bits, line);
    return;
  }
  restore_group(group);
  store_values(group, line);
}

template <bool kIsShort>
bool encode_groups(const std::byte* source, std::uint64_t count, int block_bits, std::byte* out) {
  BitWriter writer(out);
  DoubleGroup group;
  const std::uint64_t mask = low_bits_mask(block_bits);
  for (std::uint64_t done = 0; done < count; done += kGroupValues) {
    const auto values = std::min<std::uint64_t>(count - done, kGroupValues);
    load_group(source + done * sizeof(double), values, group);
    if (!find_exponents(group)) return false;
    transform_group<kIsShort>(group);
    for (int at = 0; at < blocks_of(values); ++at) {
      const bool is_empty = group.header[at] == 0;
      writer.put(is_empty ? 0 : block_of<kIsShort>(group, at, block_bits - kHeader) & mask,
                 block_bits);
    }
  }
  writer.finish();
  return true;
}

}  // namespace

THINWIRE_VECTOR_CLONES bool encode_double_line(const std::byte* source, std::uint64_t count,
                                               int block_bits, std::byte* out) {
  return block_bits - kHeader <= kMaxPairStream
             ? encode_groups<true>(source, count, block_bits, out)
             : encode_groups<false>(source, count, block_bits, out);
}

THINWIRE_VECTOR_CLONES void decode_double_line(const std::byte* encoded, std::uint64_t count,
                                               int block_bits, std::byte* out) {
  BitReader reader(encoded);
  DoubleGroup group;
  for (std::uint64_t done = 0; done < count; done += kGroupValues) {
    const auto values = std::min<std::uint64_t>(count - done, kGroupValues);
    std::uint64_t blocks[kGroup] = {};
    for (int at = 0; at < blocks_of(values); ++at) blocks[at] = reader.get(block_bits);
    double line[kGroupValues];
    decode_group(blocks, block_bits, group, line);
    std::memcpy(out + done * sizeof(double), line, values * sizeof(double));
  }
}

}  // namespace thinwire::codec::zfp
