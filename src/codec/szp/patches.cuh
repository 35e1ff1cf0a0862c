// Values that must be stored, by one thread block; spec/codec-szp.md, "Payload". Not on the way of
// chunks that have none.
#pragma once

#include "codec/szp/tile.cuh"

namespace thinwire::codec::szp {

// A chunk's patches, in shared memory.
struct PatchState {
  std::uint32_t sums[kGroups];
  std::uint16_t masks[kTiles];
  std::uint16_t firsts[kTiles];  // stored values before the tile's
};

// Positions of the parts of a chunk's patches, in words.
struct PatchPlace {
  std::uint32_t count;             // of values
  std::uint32_t tiles;             // that have some
  std::uint32_t tile[kOwnTiles];   // which one of them the thread's is
  std::uint32_t first[kOwnTiles];  // stored values before its
  std::uint32_t values;            // the word of the first stored value
  std::uint32_t end;
};

// `unbounded` as from quantise_tiles(). For whole thread blocks; has a barrier.
template <typename Value>
__device__ inline PatchPlace place_patches(std::uint32_t unbounded, std::uint32_t begin,
                                           const Who& who, PatchState& state) {
  const auto count = [&](int number) {
    return static_cast<std::uint32_t>(__popc(unbounded >> (kTileValues * number) & 0xFFFF));
  };
  const TileSums values(count(0), count(1), who);
  const TileSums tiles(count(0) != 0, count(1) != 0, who);
  if (who.member == kHalfGroup - 1) {
    // Tiles in the high half, at most 256; values in the low half, at most 4096.
    state.sums[who.group] = values.total() | tiles.total() << 16;
  }
  __syncthreads();
  const GroupPlace place = place_of_group(who.lane < kGroups ? state.sums[who.lane] : 0, who);
  const TilePlaces firsts(values, place.before & 0xFFFF, who);
  const TilePlaces numbers(tiles, place.before >> 16, who);
  const std::uint32_t from = begin + kGroups + ((place.total >> 16) + 1) / 2;
  return {place.total & 0xFFFF,
          place.total >> 16,
          {numbers.first, numbers.second},
          {firsts.first, firsts.second},
          from,
          from + (place.total & 0xFFFF) * static_cast<std::uint32_t>(sizeof(Value) / 4)};
}

// A word of a group from what its members say for their two tiles.
__device__ inline std::uint32_t ballot_of_group(bool first, bool second, const Who& who) {
  const std::uint32_t firsts = __ballot_sync(kAllLanes, first);
  const std::uint32_t seconds = __ballot_sync(kAllLanes, second);
  return __byte_perm(firsts, seconds, who.lane < kHalfGroup ? 0x5410 : 0x7632);
}

// A row in the array, clipped or not, at any alignment; values that there are not are anything.
template <typename Value, int kRank>
__device__ inline void load_any_row(const cuda::Piece& piece, const RowPlace& row,
                                    Value (&out)[kRowValues]) {
  const std::byte* const from = Values<Value, const std::byte>(piece).place(row);
  if (is_plain<Value>(piece)) {
    load_row(from, out);
    return;
  }
  const std::uint32_t count = count_of(piece.box, row);
#pragma unroll
  for (std::uint32_t k = 0; k < kRowValues; ++k) {
    if (k < count) {
      out[k] = from_bits<Value>(cuda::load_value<BitsOf<Value>>(from + k * sizeof(Value)));
    }
  }
}

// Writes the patches of a chunk; `begin` is their first word.
template <typename Value, int kRank>
__device__ inline void write_patches(const cuda::Piece& piece, std::uint32_t unbounded,
                                     std::uint32_t begin, const Who& who, const PatchPlace& place,
                                     std::uint32_t* words) {
  constexpr int kWords = sizeof(Value) / 4;
  const std::uint32_t tiles = ballot_of_group((unbounded & 0xFFFF) != 0, unbounded >> 16 != 0, who);
  if (who.member == 0) words[begin + who.group] = tiles;
  auto* const masks = reinterpret_cast<std::uint16_t*>(words + begin + kGroups);
#pragma unroll
  for (int number = 0; number < kOwnTiles; ++number) {
    const std::uint32_t mask = unbounded >> (kTileValues * number) & 0xFFFF;
    if (mask == 0) continue;
    masks[place.tile[number]] = static_cast<std::uint16_t>(mask);
    if (place.tile[number] + 1 == place.tiles && place.tiles % 2 != 0) masks[place.tiles] = 0;
  }
#pragma unroll 2
  for (int j = 0; j < kOwnRows; ++j) {
    Value loaded[kRowValues];
    load_any_row<Value, kRank>(piece, own_row<kRank>(who, j), loaded);
    const std::uint32_t own = unbounded >> (kTileValues * (j / kTileRows)) & 0xFFFF;
    const std::uint32_t first = j < kTileRows ? place.first[0] : place.first[1];
#pragma unroll
    for (int k = 0; k < kRowValues; ++k) {
      const int bit = kRowValues * (j % kTileRows) + k;
      if ((own >> bit & 1) == 0) continue;
      const auto before = static_cast<std::uint32_t>(__popc(own & ((1u << bit) - 1)));
      memcpy(words + place.values + (first + before) * kWords, &loaded[k], 4);
      if constexpr (kWords == 2) {
        words[place.values + (first + before) * kWords + 1] =
            static_cast<std::uint32_t>(to_bits(loaded[k]) >> 32);
      }
    }
  }
}

// Reads which values are patched; false if the patches do not fill words `begin` to `end`. For
// whole thread blocks; has barriers, after which the state is complete.
template <typename Value>
__device__ inline bool read_patches(const std::uint32_t* words, std::uint32_t begin,
                                    std::uint32_t end, const Who& who, PatchState& state,
                                    std::uint32_t& values) {
  if (end < begin + kGroups) return false;
  std::uint32_t before = 0;
  std::uint32_t tiles = 0;
  for (unsigned group = 0; group < kGroups; ++group) {
    const auto count = static_cast<std::uint32_t>(__popc(words[begin + group]));
    tiles += count;
    before += group < who.group ? count : 0;
  }
  values = begin + kGroups + (tiles + 1) / 2;
  if (end < values) return false;
  const std::uint32_t own = words[begin + who.group];
  const auto* const masks = reinterpret_cast<const std::uint16_t*>(words + begin + kGroups);
  std::uint32_t counts[kOwnTiles];
#pragma unroll
  for (int number = 0; number < kOwnTiles; ++number) {
    const unsigned bit = who.tile(number) % kGroupTiles;
    const auto earlier = static_cast<std::uint32_t>(__popc(own & ((1u << bit) - 1)));
    const std::uint32_t mask = (own >> bit & 1) != 0 ? masks[before + earlier] : 0;
    counts[number] = static_cast<std::uint32_t>(__popc(mask));
    state.masks[who.tile(number)] = static_cast<std::uint16_t>(mask);
  }
  const TileSums sums(counts[0], counts[1], who);
  if (who.member == kHalfGroup - 1) state.sums[who.group] = sums.total();
  __syncthreads();
  const GroupPlace place = place_of_group(who.lane < kGroups ? state.sums[who.lane] : 0, who);
  const TilePlaces firsts(sums, place.before, who);
  state.firsts[who.tile(0)] = static_cast<std::uint16_t>(firsts.first);
  state.firsts[who.tile(1)] = static_cast<std::uint16_t>(firsts.second);
  __syncthreads();
  return end == values + place.total * (sizeof(Value) / 4);
}

// Puts stored values into a row.
template <typename Value>
__device__ inline void patch_row(const PatchState& state, const std::uint32_t* stored,
                                 std::uint32_t tile, std::uint32_t row,
                                 BitsOf<Value> (&bits)[kRowValues]) {
  const std::uint32_t mask = state.masks[tile];
#pragma unroll
  for (std::uint32_t at = 0; at < kRowValues; ++at) {
    const std::uint32_t place = row * kRowValues + at;
    if ((mask >> place & 1) == 0) continue;
    const std::uint32_t before = static_cast<std::uint32_t>(__popc(mask & ((1u << place) - 1)));
    const std::uint32_t* from = stored + (state.firsts[tile] + before) * (sizeof(Value) / 4);
    std::uint64_t value = from[0];
    if constexpr (sizeof(Value) == 8) value |= std::uint64_t{from[1]} << 32;
    bits[at] = static_cast<BitsOf<Value>>(value);
  }
}

}  // namespace thinwire::codec::szp
