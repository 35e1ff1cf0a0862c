// A chunk of szp by one thread block: values to a payload; spec/codec-szp.md, "Encoding".
#pragma once

#include "codec/integers.h"
#include "codec/szp/digits.cuh"
#include "codec/szp/patches.cuh"

namespace thinwire::codec::szp {

// Words of the payload that are cleared while the values are on their way, and the first word after
// them at which neighbours exchange values.
inline constexpr std::uint32_t kClearedWords = 1024;
inline constexpr std::uint32_t kScratchWord = kBoxValues / kOwnTiles;

struct EncodeState {
  std::uint32_t row_bits[kGroups];   // of the tiles of each group
  std::uint32_t plain_bits[kWarps];  // if indices themselves are coded
  std::uint32_t codes[kWarps];       // see pack_codes(); kMetIntegers of any chunk
  PatchState patches;
};

inline constexpr std::uint32_t kMetIntegers = 1u << 30;

// The largest code of a warp, and which of its two groups have codes; the same for plain indices;
// whether a value must be stored, and whether one reads as an integer. For whole warps.
__device__ inline std::uint32_t pack_codes(std::uint32_t code, std::uint32_t plain,
                                           std::uint32_t unbounded, bool met_integers) {
  const auto groups = [](std::uint32_t codes) {
    const std::uint32_t lanes = __ballot_sync(kAllLanes, codes != 0);
    return ((lanes & 0xFFFF) != 0 ? 1u : 0u) | (lanes >> 16 != 0 ? 2u : 0u);
  };
  const bool has_patches = __any_sync(kAllLanes, unbounded != 0) != 0;
  return cuda::most_of_lanes(code) | cuda::most_of_lanes(plain) << 8 | groups(code) << 16 |
         groups(plain) << 18 | (has_patches ? 1u << 31 : 0u) |
         (__any_sync(kAllLanes, met_integers) != 0 ? kMetIntegers : 0u);
}

// The properties of a chunk that all threads know after its tiles have been counted.
struct Summary {
  GroupPlace place;  // in bits of rows, of differences
  std::uint32_t plain_bits;
  Head head;
};

// For whole thread blocks; the state is complete.
__device__ inline Summary sum_up(const EncodeState& state, const Who& who) {
  Summary summary;
  summary.place = place_of_group(who.lane < kGroups ? state.row_bits[who.lane] : 0, who);
  const std::uint32_t codes = who.lane < kWarps ? state.codes[who.lane] : 0;
  summary.plain_bits = cuda::sum_of_lanes(who.lane < kWarps ? state.plain_bits[who.lane] : 0);
  const bool is_differenced = summary.place.total <= summary.plain_bits;
  const std::uint32_t groups =
      who.lane < kWarps ? (codes >> (is_differenced ? 16 : 18) & 3) << (2 * who.lane) : 0;
  const std::uint32_t most = cuda::most_of_lanes(codes >> (is_differenced ? 0 : 8) & 0x1F);
  summary.head = {cuda::bits_of_lanes(groups), bit_width(most), is_differenced,
                  __any_sync(kAllLanes, codes >> 31 != 0) != 0, false};
  return summary;
}

// Properties of a thread's values of a chunk.
struct Seen {
  bool are_same;      // they have the bits of the chunk's first value
  bool has_integers;  // one of fp64 reads as an integer
};

template <typename Value, int kRank>
__device__ inline Seen look_at_values(const cuda::Piece& piece) {
  const Who who;
  const Values<Value, const std::byte> values(piece);
  const auto first = cuda::load_value<BitsOf<Value>>(piece.at);
  Seen seen{true, false};
#pragma unroll 1
  for (int j = 0; j < kOwnRows; ++j) {
    const RowPlace row = own_row<kRank>(who, j);
    const std::uint32_t count = count_of(piece.box, row);
    const std::byte* const from = values.place(row);
#pragma unroll 1
    for (std::uint32_t k = 0; k < count; ++k) {
      const auto bits = cuda::load_value<BitsOf<Value>>(from + k * sizeof(Value));
      seen.are_same &= bits == first;
      if (sizeof(Value) == 8) seen.has_integers |= reads_as_integer(bits);
    }
  }
  return seen;
}

// Says in the state whether a value of a chunk reads as an integer. For whole warps.
__device__ inline void note_integers(const Seen& seen, EncodeState& state) {
  const Who who;
  const bool any = __any_sync(kAllLanes, seen.has_integers) != 0;
  if (who.lane == 0) state.codes[who.warp] = any ? kMetIntegers : 0;
}

// The payload of a constant chunk; has a barrier.
template <typename Value>
__device__ inline std::uint32_t write_constant(const cuda::Piece& piece, std::uint32_t* words) {
  if (threadIdx.x == 0) {
    const std::uint64_t bits = cuda::load_value<BitsOf<Value>>(piece.at);
    words[0] = Head{0, 0, false, false, true}.word();
    words[1] = static_cast<std::uint32_t>(bits);
    if (sizeof(Value) == 8) words[2] = static_cast<std::uint32_t>(bits >> 32);
  }
  __syncthreads();
  return 4 + sizeof(Value);
}

// The head, the corner and the codes; by all threads.
__device__ inline void write_start(const Head& head, std::uint32_t corner, std::uint32_t first,
                                   std::uint32_t second, const Who& who, std::uint32_t* words) {
  if (threadIdx.x == 0) {
    words[0] = head.word();
    words[1] = corner;
  }
  std::uint32_t own = 0;
  for (std::uint32_t plane = 0; plane < head.code_bits; ++plane) {
    const std::uint32_t word =
        ballot_of_group((first >> plane & 1) != 0, (second >> plane & 1) != 0, who);
    if (who.member == plane) own = word;
  }
  if ((head.groups >> who.group & 1) == 0 || who.member >= head.code_bits) return;
  const auto before = static_cast<std::uint32_t>(__popc(head.groups & ((1u << who.group) - 1)));
  words[2 + before * head.code_bits + who.member] = own;
}

// Zeros from word `begin` to `end`; by all threads.
__device__ inline void clear(std::uint32_t* words, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t at = begin + threadIdx.x; at < end; at += kThreads) words[at] = 0;
}

template <typename Value, int kRank>
__device__ inline std::uint32_t encode_box(const cuda::Piece& piece, std::uint32_t* words,
                                           std::uint64_t parameter, EncodeState& state) {
  const Who who;
  const Lattice<Value> lattice = make_lattice<Value>(parameter);
  const bool has_room = piece.bytes > 4 + sizeof(Value);
  if (!lattice.exists()) {
    const Seen seen = look_at_values<Value, kRank>(piece);
    if (sizeof(Value) == 8) note_integers(seen, state);
    if (__syncthreads_and(seen.are_same) == 0 || !has_room) return piece.bytes;
    return write_constant<Value>(piece, words);
  }
  Values<Value, const std::byte> values(piece);
  const bool is_staged = !is_plain<Value>(piece);
  if (is_staged) {
    auto* const staged = reinterpret_cast<std::byte*>(words);
    stage<Value, kRank>(piece, staged);
    values = {staged, kRank};
    __syncthreads();
  } else {
#pragma unroll
    for (unsigned at = 0; at < kClearedWords / 4 / kThreads; ++at) {
      reinterpret_cast<uint4*>(words)[at * kThreads + threadIdx.x] = {0, 0, 0, 0};
    }
  }

  Tiles tiles;
  bool met_integers = false;
  const std::uint32_t unbounded =
      quantise_tiles<Value, kRank>(values, lattice, who, tiles, met_integers);
  constexpr std::uint32_t kNone = kNoIndex<Value>;
  const std::uint32_t corner = tiles.row[0][0] - kNone;
  const TileCode plain[] = {code_of<0>(tiles, kNone), code_of<1>(tiles, kNone)};
  if (is_staged) __syncthreads();  // the values have been read
  take_differences<kRank, kNone>(tiles, words + kScratchWord, who);
  if (is_staged) clear_outside<kRank>(piece.box, who, tiles);
  TileCode first = code_of<0>(tiles, 0);
  TileCode second = code_of<1>(tiles, 0);
  TileSums sums(first.row_bits(), second.row_bits(), who);
  const std::uint32_t plain_bits = cuda::sum_of_lanes(plain[0].row_bits() + plain[1].row_bits());
  const std::uint32_t codes =
      pack_codes(max(first.code(), second.code()), max(plain[0].code(), plain[1].code()), unbounded,
                 met_integers);
  if (who.member == kHalfGroup - 1) state.row_bits[who.group] = sums.total();
  if (who.lane == 0) state.plain_bits[who.warp] = plain_bits;
  if (who.lane == 0) state.codes[who.warp] = codes;
  __syncthreads();

  Summary summary = sum_up(state, who);
  const Head& head = summary.head;
  if (!head.is_differenced) {
    // Rare, and cheaper than to keep both in registers.
    if (is_staged) {
      stage<Value, kRank>(piece, reinterpret_cast<std::byte*>(words));
      __syncthreads();
    }
    quantise_again<Value, kRank>(values, lattice, who, tiles);
    first = plain[0];
    second = plain[1];
    sums = TileSums(first.row_bits(), second.row_bits(), who);
    __syncthreads();
    if (who.member == kHalfGroup - 1) state.row_bits[who.group] = sums.total();
    __syncthreads();
    summary.place = place_of_group(who.lane < kGroups ? state.row_bits[who.lane] : 0, who);
  }
  if (threadIdx.x == 0) tiles.row[0][0] = 0;
  const bool is_empty = head.groups == 0 && !head.has_patches;
  if (is_empty && __syncthreads_or(threadIdx.x == 0 && corner != 0) == 0) return 0;
  const std::uint32_t start = 2 + head.code_bits * static_cast<std::uint32_t>(__popc(head.groups));
  const std::uint32_t digits_end = start + (summary.place.total * kTileRows + 31) / 32;
  std::uint32_t end = digits_end;
  PatchPlace patches{};
  if (head.has_patches) {
    patches = place_patches<Value>(unbounded, end, who, state.patches);
    if (patches.count == piece.values && has_room) {
      const Seen seen = look_at_values<Value, kRank>(piece);
      if (__syncthreads_and(seen.are_same) != 0) return write_constant<Value>(piece, words);
    }
    end = patches.end;
  }
  if (end * 4 >= piece.bytes) return piece.bytes;
  if (is_staged || digits_end > kClearedWords) {
    clear(words, is_staged ? start : kClearedWords, digits_end);
    __syncthreads();
  }
  write_start(head, corner, first.code(), second.code(), who, words);
  const TilePlaces at(sums, summary.place.before, who);
  write_tile<0>(tiles, first, BitsOut(words, 32 * start + at.first * kTileRows));
  write_tile<1>(tiles, second, BitsOut(words, 32 * start + at.second * kTileRows));
  if (head.has_patches) {
    write_patches<Value, kRank>(piece, unbounded, digits_end, who, patches, words);
  }
  __syncthreads();
  return end * 4;
}

// For encode_variable.
template <Dtype kType, int kRank>
struct BoxEncoder {
  static constexpr Dtype kDtype = kType;
  static constexpr int kThreads = szp::kThreads;
  // As many as two payloads of fp64 leave shared memory for.
  static constexpr int kResident = kType == Dtype::kF64 ? 3 : 5;
  static constexpr std::uint32_t kPayloadBytes = kBoxValues * sizeof(ValueOf<kType>);
  using State = EncodeState;

  __device__ static std::uint32_t encode(const cuda::Piece& piece, std::uint64_t* payload,
                                         std::uint64_t parameter, State& state) {
    return encode_box<ValueOf<kType>, kRank>(piece, reinterpret_cast<std::uint32_t*>(payload),
                                             parameter, state);
  }

  // True if the chunk encoded last has values that read as integers; for one thread.
  __device__ static bool met_integers(const State& state) {
    if (kType != Dtype::kF64) return false;
    std::uint32_t codes = 0;
    for (int warp = 0; warp < kWarps; ++warp) codes |= state.codes[warp];
    return (codes & kMetIntegers) != 0;
  }
};

}  // namespace thinwire::codec::szp
