#include "codec/zfp/blocks.h"

#include <algorithm>

#include "base/vector_units.h"
#include "codec/zfp/block.h"
#include "codec/zfp/block_bits.h"
#include "codec/zfp/double_line.h"
#include "codec/zfp/gather.h"
#include "codec/zfp/group.h"
#include "codec/zfp/group_runs.h"
#include "codec/zfp/lane_decode.h"
#include "codec/zfp/lane_encode.h"
#include "codec/zfp/list_coder.h"
#include "codec/zfp/sizes.h"

namespace thinwire::codec::zfp {
namespace {

constexpr ExpandTable kExpand = make_expand_table();
constexpr SearchTable kSearch = make_search_table();
constexpr ListTables kLists = make_list_tables();
constexpr PairCodes kPairCodes = make_pair_codes(false);

// The blocks of an array in their order, as many at a time as a group has.
template <typename Group>
class Groups {
 public:
  explicit Groups(const Grid& grid)
      : grid_(grid), x_(Grid::blocks_along(grid.x)), y_(Grid::blocks_along(grid.y)) {
    left_ = grid.blocks();
  }

  // Moves to the next blocks and returns their number; 0 after the last.
  int next() {
    const std::uint64_t most = Group::kBlocks;
    const int count = static_cast<int>(left_ < most ? left_ : most);
    left_ -= static_cast<std::uint64_t>(count);
    const bool in_row = x_ - at_x_ >= most;
    for (int i = 0; i < count; ++i) {
      place_[i] = block_place(grid_, at_x_, at_y_, at_z_);
      if (++at_x_ < x_) continue;
      at_x_ = 0;
      if (++at_y_ < y_) continue;
      at_y_ = 0;
      ++at_z_;
    }
    is_run_ = in_row && place_[Group::kBlocks - 1].x == 4;
    return count;
  }

  const BlockPlace& place(int i) const { return place_[i]; }

  // Whether they follow one another along x, are full along it, and as many as a group has.
  bool is_run() const { return is_run_; }

 private:
  Grid grid_;
  std::uint64_t x_, y_;
  std::uint64_t left_;
  std::uint64_t at_x_ = 0, at_y_ = 0, at_z_ = 0;
  BlockPlace place_[Group::kBlocks];
  bool is_run_ = false;
};

template <typename Group>
void load_group(const std::byte* source, const Grid& grid, const Groups<Group>& blocks, int count,
                Group& group) {
  using Scalar = typename Group::Scalar;
  if (blocks.is_run()) {
    gather_run(source, grid, blocks.place(0), group);
    return;
  }
  Scalar values[Group::kValues] = {};
  for (int at = 0; at < Group::kBlocks; ++at) {
    if (at < count) gather_block<Scalar, Group::kRank>(source, grid, blocks.place(at), values);
    for (int i = 0; i < Group::kValues; ++i) group.values[i][at] = values[i];
  }
}

template <typename Group>
void store_group(const Group& group, const Grid& grid, const Groups<Group>& blocks, int count,
                 std::byte* out) {
  using Scalar = typename Group::Scalar;
  if (blocks.is_run()) {
    scatter_run(group, grid, blocks.place(0), out);
    return;
  }
  for (int at = 0; at < count; ++at) {
    Scalar values[Group::kValues];
    for (int i = 0; i < Group::kValues; ++i) values[i] = group.values[i][at];
    scatter_block<Scalar, Group::kRank>(values, grid, blocks.place(at), out);
  }
}

template <typename Group>
void put_lanes(Group& group, int count, int block_bits, BitWriter& stream) {
  using Scalar = typename Group::Scalar;
  constexpr int kPlanes = FloatFormat<Scalar>::kBits;
  for (int at = 0; at < count; ++at) {
    BlockWriter block(block_bits);
    if (group.header[at] != 0) {
      block.put(static_cast<std::uint32_t>(group.header[at]), kHeaderBits<Scalar>);
      const int highest = kPlanes - 1 - leading_zeros(group.any[at]);
      if constexpr (Group::kRank == 1) {
        put_lane_by_pairs<kPlanes>(kPairCodes, group, at, highest, block);
      } else if constexpr (Group::kHasLists) {
        put_list<kPlanes>(kExpand, group, at, highest, block);
      } else {
        put_lane<kPlanes>(kExpand, group, at, highest, block);
      }
    }
    block.finish(stream, block_bits);
  }
}

// The first `kBits` bits of a block.
template <int kBits, typename Bits>
std::uint32_t header_of(const Bits& block) {
  return static_cast<std::uint32_t>(block.template window<false>() & low_bits_mask(kBits));
}

// Returns a plane below which none has ones.
template <typename Bits, typename Group>
int get_lanes(LaneReader& stream, int count, int block_bits, Group& group) {
  using Scalar = typename Group::Scalar;
  constexpr int kPlanes = FloatFormat<Scalar>::kBits;
  constexpr int kHeader = kHeaderBits<Scalar>;
  std::memset(group.scale, 0, sizeof group.scale);
  int lowest = kPlanes;
  for (int at = 0; at < count; ++at) {
    Bits block = Bits::of(stream.next(block_bits));
    const std::uint32_t header = header_of<kHeader>(block);
    if ((header & 1) != 0) {
      block.skip(kHeader);
      const int last = lowest_plane<Scalar, Group::kRank>(header);
      lowest = smaller(lowest, get_lane<kPlanes>(kSearch, block, last, group, at));
    }
    group.scale[at] = inverse_scale<Scalar>(header);
  }
  return lowest;
}

// The same for groups with lists, two blocks by turns.
template <typename Bits, typename Group>
int get_lists(LaneReader& stream, int count, int block_bits, Group& group) {
  using Scalar = typename Group::Scalar;
  constexpr int kPlanes = FloatFormat<Scalar>::kBits;
  constexpr int kHeader = kHeaderBits<Scalar>;
  std::memset(group.scale, 0, sizeof group.scale);
  int listed = 0;
  BlockBits bits{};
  const auto begin = [&](int at) {
    if (at < count) bits = stream.next(block_bits);
    Bits block = Bits::of(bits);
    const std::uint32_t header = header_of<kHeader>(block);
    group.scale[at] = inverse_scale<Scalar>(header);
    int last = lowest_plane<Scalar, Group::kRank>(header);
    block.skip(kHeader);
    if ((header & 1) == 0 || at >= count) last = kPlanes;
    return ListDecoder<kPlanes, Bits>(block, last, group.list[at]);
  };
  for (int at = 0; at < count; at += 2) {
    auto a = begin(at), b = begin(at + 1);
    get_two_lists(kLists, a, b);
    const int first = a.finish(), second = b.finish();
    listed = std::max({listed, first, second});
  }
  return kPlanes - listed;
}

template <typename Scalar, int kRank>
bool encode_array(const std::byte* source, const Grid& grid, int block_bits, std::byte* out) {
  BitWriter stream(out);
  Groups<Group<Scalar, kRank>> blocks(grid);
  Group<Scalar, kRank> group;
  while (const int count = blocks.next()) {
    load_group(source, grid, blocks, count, group);
    if (!make_group_planes(group)) return false;
    put_lanes(group, count, block_bits, stream);
  }
  stream.finish();
  return true;
}

template <typename Scalar, int kRank>
void decode_array(const std::byte* encoded, const Grid& grid, int block_bits, std::byte* out) {
  LaneReader stream(encoded, encoded_bytes(grid.blocks(), block_bits));
  Groups<Group<Scalar, kRank>> blocks(grid);
  Group<Scalar, kRank> group;
  while (const int count = blocks.next()) {
    // Volumes seldom have so short blocks.
    const bool is_word = kRank < 3 && block_bits <= 64;
    int lowest = 0;
    if constexpr (kRank == 2) {
      lowest = is_word ? get_lists<WordBits>(stream, count, block_bits, group)
                       : get_lists<BlockBits>(stream, count, block_bits, group);
    } else {
      lowest = is_word ? get_lanes<WordBits>(stream, count, block_bits, group)
                       : get_lanes<BlockBits>(stream, count, block_bits, group);
    }
    restore_group(group, lowest);
    store_group(group, grid, blocks, count, out);
  }
}

// One function for each rank, because vector clones are of functions, not of templates.
#define THINWIRE_ZFP_CODERS(Scalar, kRank, suffix)                                        \
  THINWIRE_VECTOR_CLONES bool encode_##suffix(const std::byte* source, const Grid& grid,  \
                                              int block_bits, std::byte* out) {           \
    return encode_array<Scalar, kRank>(source, grid, block_bits, out);                    \
  }                                                                                       \
  THINWIRE_VECTOR_CLONES void decode_##suffix(const std::byte* encoded, const Grid& grid, \
                                              int block_bits, std::byte* out) {           \
    decode_array<Scalar, kRank>(encoded, grid, block_bits, out);                          \
  }

THINWIRE_ZFP_CODERS(float, 1, f32_1d)
THINWIRE_ZFP_CODERS(float, 2, f32_2d)
THINWIRE_ZFP_CODERS(float, 3, f32_3d)
THINWIRE_ZFP_CODERS(double, 1, f64_1d)
THINWIRE_ZFP_CODERS(double, 2, f64_2d)
THINWIRE_ZFP_CODERS(double, 3, f64_3d)

bool is_double_line(Dtype dtype, const Shape& shape, int block_bits) {
  return dtype == Dtype::kF64 && shape.rank == 1 && block_bits <= kMaxDoubleLineBits;
}

}  // namespace

bool encode_blocks(const std::byte* source, Dtype dtype, const Shape& shape, int block_bits,
                   std::byte* out) {
  if (is_double_line(dtype, shape, block_bits)) {
    return encode_double_line(source, shape.count(), block_bits, out);
  }
  constexpr decltype(&encode_f32_1d) kEncode[2][kMaxRank] = {
      {encode_f32_1d, encode_f32_2d, encode_f32_3d}, {encode_f64_1d, encode_f64_2d, encode_f64_3d}};
  return kEncode[dtype == Dtype::kF64][shape.rank - 1](source, make_grid(shape), block_bits, out);
}

void decode_blocks(const std::byte* encoded, Dtype dtype, const Shape& shape, int block_bits,
                   std::byte* out) {
  if (is_double_line(dtype, shape, block_bits)) {
    decode_double_line(encoded, shape.count(), block_bits, out);
    return;
  }
  constexpr decltype(&decode_f32_1d) kDecode[2][kMaxRank] = {
      {decode_f32_1d, decode_f32_2d, decode_f32_3d}, {decode_f64_1d, decode_f64_2d, decode_f64_3d}};
  kDecode[dtype == Dtype::kF64][shape.rank - 1](encoded, make_grid(shape), block_bits, out);
}

}  // namespace thinwire::codec::zfp
