#include "codec/zfp/line.h"

#include <algorithm>
#include <cstring>

#include "base/vector_units.h"
#include "codec/zfp/bit_stream.h"
#include "codec/zfp/line_block.h"
#include "codec/zfp/line_groups.h"

namespace thinwire::codec::zfp {
namespace {

constexpr Tables kTables = make_tables();

struct Group {
  float values[kGroupValues];
  std::int32_t header[kGroup];
  float scale[kGroup];
  Block coefficients[kGroup];
  Planes planes[kGroup];
};

// False if a value is NaN or infinite.
bool find_exponents(Group& group) {
  std::int32_t most = 0;
  for (int i = 0; i < kGroup; ++i) {
    const float* v = group.values + i * kLineValues;
    const std::int32_t largest = std::max(std::max(magnitude_bits(v[0]), magnitude_bits(v[1])),
                                          std::max(magnitude_bits(v[2]), magnitude_bits(v[3])));
    group.header[i] = block_header<float>(largest);
    group.scale[i] = forward_scale<float>(largest);
    most = std::max(most, largest);
  }
  return most < kInfinityBits<float>;
}

void transform_group(Group& group) {
  for (int i = 0; i < kGroup; ++i) {
    group.coefficients[i] = line_coefficients(group.values + i * kLineValues, group.scale[i]);
  }
  for (int i = 0; i < kGroup; ++i) group.planes[i] = to_planes(group.coefficients[i]);
}

void restore_group(Group& group) {
  for (int i = 0; i < kGroup; ++i) {
    line_values(from_planes(group.planes[i]), group.scale[i], group.values + i * kLineValues);
  }
}

void put_block(BitWriter& writer, const Group& group, int i, int block_bits) {
  const LineBits bits = line_bits(kTables, group.coefficients[i], group.planes[i],
                                  static_cast<std::uint32_t>(group.header[i]), block_bits);
  writer.put(bits.first, std::min(block_bits, 64));
  if (block_bits > 64) writer.put(bits.second, block_bits - 64);
}

void get_block(BitReader& reader, Group& group, int i, int block_bits) {
  const std::uint64_t first = reader.get(std::min(block_bits, 64));
  const std::uint64_t second = block_bits > 64 ? reader.get(block_bits - 64) : 0;
  group.scale[i] = inverse_scale<float>(static_cast<std::uint32_t>(first) & 0x1ff);
  group.planes[i] = line_planes(kTables, {first, second}, block_bits);
}

}  // namespace

THINWIRE_VECTOR_CLONES bool encode_line(const std::byte* source, std::uint64_t count,
                                        int block_bits, std::byte* out) {
  BitWriter writer(out);
  Group group;
  for (std::uint64_t done = 0; done < count; done += kGroupValues) {
    const auto values = std::min<std::uint64_t>(count - done, kGroupValues);
    read_group(source + done * sizeof(float), values, group.values);
    if (!find_exponents(group)) return false;
    transform_group(group);
    for (int i = 0; i < blocks_of(values); ++i) put_block(writer, group, i, block_bits);
  }
  writer.finish();
  return true;
}

THINWIRE_VECTOR_CLONES void decode_line(const std::byte* encoded, std::uint64_t count,
                                        int block_bits, std::byte* out) {
  BitReader reader(encoded);
  Group group{};
  for (std::uint64_t done = 0; done < count; done += kGroupValues) {
    const auto values = std::min<std::uint64_t>(count - done, kGroupValues);
    for (int i = 0; i < blocks_of(values); ++i) get_block(reader, group, i, block_bits);
    restore_group(group);
    std::memcpy(out + done * sizeof(float), group.values, values * sizeof(float));
  }
}

}  // namespace thinwire::codec::zfp
