// A chunk of szp by one thread block: a payload to values; spec/codec-szp.md, "Decoding".
#pragma once

#include "codec/szp/digits.cuh"
#include "codec/szp/patches.cuh"
#include "codec/szp/sums.cuh"

namespace thinwire::codec::szp {

struct DecodeState {
  alignas(16) std::uint32_t sums[kSumWords];
  std::uint32_t row_bits[kGroups];
  PatchState patches;
};

// The same bits everywhere.
template <typename Value, int kRank, typename Sink>
__device__ inline void fill(const cuda::Target& target, BitsOf<Value> value, const Sink& sink) {
  const Who who;
  const Values<Value, std::byte> values(target);
  const bool by_rows = is_plain<Value>(target);
  const BitsOf<Value> bits[kRowValues] = {value, value, value, value};
#pragma unroll 1
  for (int j = 0; j < kOwnRows; ++j) {
    const RowPlace row = own_row<kRank>(who, j);
    std::byte* const to = values.place(row);
    if (by_rows) {
      store_row<Value>(to, bits, [&](std::byte* at, uint4 words) { sink.put_aligned(at, words); });
      continue;
    }
    const std::uint32_t count = count_of(target.box, row);
#pragma unroll 1
    for (std::uint32_t k = 0; k < count; ++k) sink.put(to + k * sizeof(Value), value);
  }
}

// The codes of the thread's tiles; all of the codes lie in the payload.
struct OwnCodes {
  std::uint32_t first = 0, second = 0;

  __device__ OwnCodes(const Head& head, const Who& who, const std::uint32_t* words) {
    if ((head.groups >> who.group & 1) == 0) return;
    const auto before = static_cast<std::uint32_t>(__popc(head.groups & ((1u << who.group) - 1)));
    const std::uint32_t* const planes = words + 2 + before * head.code_bits;
    for (std::uint32_t plane = 0; plane < head.code_bits; ++plane) {
      const std::uint32_t word = planes[plane] >> who.member;
      first |= (word & 1) << plane;
      second |= (word >> kHalfGroup & 1) << plane;
    }
  }
};

// Turns indices into values and stores them.
template <typename Value, int kRank>
struct Finish {
  const Lattice<Value>& lattice;
  const Head& head;
  const Who& who;
  const PatchState& patches;
  const std::uint32_t* stored;

  // The values of row j.
  __device__ void take(const Tiles& tiles, int j, BitsOf<Value> (&bits)[kRowValues]) const {
#pragma unroll
    for (int k = 0; k < kRowValues; ++k) bits[k] = to_bits(value_at(tiles.row[j][k], lattice));
    if (!head.has_patches) return;
    patch_row<Value>(patches, stored, who.tile(j / kTileRows),
                     static_cast<std::uint32_t>(j % kTileRows), bits);
  }
};

// The rows of a thread; by way of `staged`, kBoxValues values of shared memory, if the box is
// clipped or not aligned. For whole thread blocks.
template <typename Value, int kRank, typename Sink>
__device__ inline void store_tiles(const Tiles& tiles, const Finish<Value, kRank>& finish,
                                   const cuda::Target& target, std::byte* staged,
                                   const Sink& sink) {
  if (is_plain<Value>(target)) {
    const Values<Value, std::byte> values(target);
#pragma unroll
    for (int j = 0; j < kOwnRows; ++j) {
      BitsOf<Value> bits[kRowValues];
      finish.take(tiles, j, bits);
      store_row<Value>(values.place(own_row<kRank>(finish.who, j)), bits,
                       [&](std::byte* at, uint4 words) { sink.put_aligned(at, words); });
    }
    return;
  }
  const Values<Value, std::byte> values(staged, kRank);
  BitsOf<Value> bits[kOwnRows][kRowValues];
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) finish.take(tiles, j, bits[j]);
  __syncthreads();  // the payload has been read
#pragma unroll
  for (int j = 0; j < kOwnRows; ++j) {
    store_row<Value>(values.place(own_row<kRank>(finish.who, j)), bits[j],
                     [](std::byte* at, uint4 words) { *reinterpret_cast<uint4*>(at) = words; });
  }
  __syncthreads();
  unstage<Value, kRank>(staged, target, sink);
}

// A payload of which nothing but the length is known.
template <typename Value, int kRank, typename Sink>
__device__ inline bool decode_box(std::uint32_t* words, std::uint32_t bytes,
                                  const cuda::Target& target, std::uint64_t parameter,
                                  DecodeState& state, const Sink& sink) {
  const Who who;
  // An open parameter's frame has not been looked at.
  if (!is_bound(parameter)) return false;
  const Lattice<Value> lattice = make_lattice<Value>(parameter);
  if (bytes == 0) {
    if (lattice.exists()) fill<Value, kRank>(target, 0, sink);
    return lattice.exists();
  }
  if (bytes < 8 || bytes % 4 != 0) return false;
  bool is_sound = false;
  const Head head = read_head(words[0], is_sound);
  if (!is_sound) return false;
  if (head.is_constant) {
    if (bytes != 4 + sizeof(Value)) return false;
    std::uint64_t bits = words[1];
    if (sizeof(Value) == 8) bits |= std::uint64_t{words[2]} << 32;
    fill<Value, kRank>(target, static_cast<BitsOf<Value>>(bits), sink);
    return true;
  }
  const std::uint32_t start = 2 + head.code_bits * static_cast<std::uint32_t>(__popc(head.groups));
  if (!lattice.exists() || bytes / 4 < start) return false;

  const OwnCodes codes(head, who, words);
  const RadixEntry first = kRadices.of[codes.first];
  const RadixEntry second = kRadices.of[codes.second];
  const TileSums sums(first.row_bits, second.row_bits, who);
  if (who.member == kHalfGroup - 1) state.row_bits[who.group] = sums.total();
  __syncthreads();
  const GroupPlace place = place_of_group(who.lane < kGroups ? state.row_bits[who.lane] : 0, who);
  const std::uint32_t end = start + (place.total * kTileRows + 31) / 32;
  if (head.has_patches ? bytes / 4 < end : bytes / 4 != end) return false;
  const TilePlaces at(sums, place.before, who);
  Tiles tiles;
  read_tile<0>(tiles, codes.first, first, words, 32 * start + at.first * kTileRows);
  read_tile<1>(tiles, codes.second, second, words, 32 * start + at.second * kTileRows);
  if (threadIdx.x == 0) tiles.row[0][0] = words[1];
  std::uint32_t stored = 0;
  if (head.has_patches && !read_patches<Value>(words, end, bytes / 4, who, state.patches, stored)) {
    return false;
  }
  if (head.is_differenced) take_sums<kRank>(tiles, state.sums, who);
  const Finish<Value, kRank> finish{lattice, head, who, state.patches, words + stored};
  store_tiles<Value, kRank>(tiles, finish, target, reinterpret_cast<std::byte*>(words), sink);
  return true;
}

// For decode_variable.
template <Dtype kType, int kRank>
struct BoxDecoder {
  static constexpr Dtype kDtype = kType;
  static constexpr int kThreads = szp::kThreads;
  // As many as two payloads of fp64 leave shared memory for.
  static constexpr int kResident = kType == Dtype::kF64 ? 3 : 5;
  static constexpr bool kBringsTargetNear = kRank > 1;
  static constexpr std::uint32_t kPayloadBytes = kBoxValues * sizeof(ValueOf<kType>);
  using State = DecodeState;

  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t parameter, State& state,
                                const Sink& sink) {
    return decode_box<ValueOf<kType>, kRank>(reinterpret_cast<std::uint32_t*>(payload), bytes,
                                             target, parameter, state, sink);
  }
};

}  // namespace thinwire::codec::szp
