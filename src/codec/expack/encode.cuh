// Encoding a chunk by one thread block; spec/codec-expack.md.
#pragma once

#include "codec/expack/verbatim.cuh"

namespace thinwire::codec::expack {

inline constexpr std::uint32_t kBothOnes = 0x00010001u;
inline constexpr std::uint32_t kEachNibble = 0x11111111u;

// What a lane keeps of its groups until the chunk's kind is known. Symbols are nibbles, of the
// values 0, 4, 2, 6, 1, 5, 3, 7; exponents are bytes.
struct Kept {
  std::uint32_t symbols[kWarpRows];
  uint2 exponents[kWarpRows];
};

// Sums over the values so far that a code of some kind is for, 4 bits a value of a group.
struct Tally {
  std::uint32_t outer[2] = {};  // of kinds 1 and 3
  std::uint32_t raw[kKinds] = {};

  __device__ void add(std::uint32_t symbols);
};

__device__ inline void Tally::add(std::uint32_t symbols) {
  const std::uint32_t a = symbols, b = symbols >> 1, c = symbols >> 2, d = symbols >> 3;
  const std::uint32_t none = ~(b | c | d);     // 0, 1
  const std::uint32_t five_six = c & (a ^ b);  // of those below 8
  const std::uint32_t zero = a & b & d;        // 11
  const std::uint32_t far = d & b & ~a;        // 10
  outer[0] += ~(c & (a | b)) & kEachNibble;    // not 5, 6, 7
  outer[1] += ~(five_six | zero) & kEachNibble;
  raw[0] += (none | (d & (a | b))) & kEachNibble;                   // 0, 1, 9, 10, 11
  raw[1] += (d & b) & kEachNibble;                                  // 10, 11
  raw[2] += ((~(c | d) & ~(a & b)) | (d & (a ^ b))) & kEachNibble;  // 0, 1, 2, 9, 10
  raw[3] += (far | (none & ~a)) & kEachNibble;                      // 0, 10
}

// The sum of eight nibbles.
__device__ inline std::uint32_t sum_nibbles(std::uint32_t nibbles) {
  const std::uint32_t pairs = (nibbles & 0x0F0F0F0Fu) + (nibbles >> 4 & 0x0F0F0F0Fu);
  return (pairs * kBytesOnes) >> 24;
}

// What the warps of a block tell each other: two counts in each word.
template <int kCount>
struct EncodeState {
  std::uint32_t outer[kCount];        // of kind 1, and of 3 in the upper half
  std::uint32_t raw_entropy[kCount];  // likewise
  std::uint32_t raw_fixed[kCount];    // of kinds 0 and 2
};

template <Dtype kDtype>
struct Encoder {
  using State = EncodeState<kWarps<kDtype>>;

  const cuda::Piece& piece;
  std::byte* out;
  State& state;
  unsigned lane;
  int first_row;  // of the warp
  int rows;       // of the chunk

  __device__ void load_rows(Group<kDtype> (&groups)[kWarpRows]);
  __device__ void keep_rows(const Parts& parts, Kept& kept);
  __device__ void publish(const Tally& tally);
  __device__ void put_fixed(const Kept& kept, const Parts& parts, unsigned kind,
                            std::uint32_t (&raw)[kWarpRows]);
  __device__ void put_entropy(const Kept& kept, const Parts& parts, unsigned kind,
                              std::uint32_t before, std::uint32_t (&raw)[kWarpRows]);
  __device__ void put_raw(const Kept& kept, const std::uint32_t (&raw)[kWarpRows],
                          std::uint32_t before, std::byte* to);
  __device__ std::uint32_t encode(std::uint64_t mode);
};

// The exponents of a row as pairs, and their sum and, in the upper half, how many are not 0.
template <Dtype kDtype>
__device__ std::uint32_t sum_row(const Group<kDtype>& group, std::uint32_t (&pairs)[4]) {
  take_exponents(group, pairs);
  const std::uint32_t sum = pairs[0] + pairs[1] + pairs[2] + pairs[3];
  std::uint32_t count = 0;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) count += __vminu2(pairs[pair], kBothOnes);
  // The two halves of each are added up, in the upper one.
  return __reduce_add_sync(kAllLanes, (count * kBothOnes & 0xFFFF0000u) + (sum * kBothOnes >> 16));
}

// The symbols of a group, as nibbles of the values 0, 4, 2, 6, 1, 5, 3, 7.
__device__ inline std::uint32_t take_symbols(const std::uint32_t (&pairs)[4], std::uint32_t base) {
  const std::uint32_t less_base = (0u - base & 0xFFFF) * kBothOnes;
  std::uint32_t symbols[4];
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const std::uint32_t near = __viaddmin_u16x2(pairs[pair], less_base, kFarSymbol * kBothOnes);
    const std::uint32_t is_not_zero = __vminu2(pairs[pair], kBothOnes);
    symbols[pair] = __vmaxu2(near, kZeroSymbol * kBothOnes - is_not_zero * kZeroSymbol);
  }
  return symbols[0] + (symbols[1] << 8) + (symbols[2] << 4) + (symbols[3] << 12);
}

template <Dtype kDtype>
__device__ void Encoder<kDtype>::load_rows(Group<kDtype> (&groups)[kWarpRows]) {
  constexpr std::uint32_t kRowBytes = kRowValues * Format<kDtype>::kValueBytes;
  if (piece.bytes == kChunkBytes && reinterpret_cast<std::uintptr_t>(piece.at) % 16 == 0) {
#pragma unroll
    for (int at = 0; at < kWarpRows; ++at) {
      groups[at] = load_group<kDtype>(piece.at + (first_row + at) * kRowBytes, lane);
    }
  } else {
#pragma unroll
    for (int at = 0; at < kWarpRows; ++at) {
      groups[at] = load_group_slowly<kDtype>(piece, first_row + at, lane);
    }
  }
}

// Rows' bases and verbatim planes into the payload.
template <Dtype kDtype>
__device__ void Encoder<kDtype>::keep_rows(const Parts& parts, Kept& kept) {
  Group<kDtype> groups[kWarpRows];
  load_rows(groups);
  std::uint32_t pairs[kWarpRows][4], sums[kWarpRows];
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    sums[at] = sum_row(groups[at], pairs[at]);
    if (first_row + at < rows) put_verbatim<kDtype>(groups[at], parts, first_row + at, lane, out);
  }
  std::uint32_t bases[kWarpRows];
  bool is_dense = true;
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    is_dense &= sums[at] >> 16 == kRowValues;
    bases[at] = base_of<kDtype>(sums[at] & 0xFFFF, kRowValues);
  }
  if (!is_dense) {
#pragma unroll
    for (int at = 0; at < kWarpRows; ++at) {
      bases[at] = base_of<kDtype>(sums[at] & 0xFFFF, sums[at] >> 16);
    }
  }
  Tally tally;
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    kept.exponents[at] = {__byte_perm(pairs[at][0], pairs[at][1], 0x6420),
                          __byte_perm(pairs[at][2], pairs[at][3], 0x6420)};
    kept.symbols[at] = take_symbols(pairs[at], bases[at]);
    // A row that the chunk lacks has only codes that need nothing more.
    if (first_row + at >= rows) kept.symbols[at] = 5 * kEachNibble;
    tally.add(kept.symbols[at]);
    if (lane == 0 && first_row + at < rows) {
      out[parts.bases + first_row + at] = static_cast<std::byte>(bases[at]);
    }
  }
  publish(tally);
}

template <Dtype kDtype>
__device__ void Encoder<kDtype>::publish(const Tally& tally) {
  const auto sum_two = [](std::uint32_t low, std::uint32_t high) {
    return __reduce_add_sync(kAllLanes, sum_nibbles(low) + (sum_nibbles(high) << 16));
  };
  const std::uint32_t outer = sum_two(tally.outer[0], tally.outer[1]);
  const std::uint32_t raw_entropy = sum_two(tally.raw[1], tally.raw[3]);
  const std::uint32_t raw_fixed = sum_two(tally.raw[0], tally.raw[2]);
  if (lane != 0) return;
  const int warp = static_cast<int>(threadIdx.x / 32);
  state.outer[warp] = outer;
  state.raw_entropy[warp] = raw_entropy;
  state.raw_fixed[warp] = raw_fixed;
}

// The codes of a group, a byte a value.
__device__ inline uint2 codes_of(std::uint32_t symbols, const CodeTable& table) {
  const auto low = static_cast<std::uint32_t>(table.low);
  const auto high = static_cast<std::uint32_t>(table.low >> 32);
  const auto above = static_cast<std::uint32_t>(table.high);
  // A selector's highest bit asks for the sign of the byte that it selects: no code has one, so
  // that symbols above 7 select nothing in the first table, and the others nothing in the second.
  const std::uint32_t turned = symbols ^ 0x88888888u;
  const std::uint32_t even = permute(low, high, symbols) | permute(above, 0, turned);
  const std::uint32_t odd = permute(low, high, symbols >> 16) | permute(above, 0, turned >> 16);
  return {__byte_perm(even, odd, 0x6240), __byte_perm(even, odd, 0x7351)};
}

// Which values of a group have raw exponents: those of the first four at bits 3, 11, 19, 27, the
// others one below.
__device__ inline std::uint32_t raw_of(uint2 codes) {
  return (codes.x & kRawFlag * kBytesOnes) | (codes.y & kRawFlag * kBytesOnes) >> 1;
}

template <Dtype kDtype>
__device__ void Encoder<kDtype>::put_fixed(const Kept& kept, const Parts& parts, unsigned kind,
                                           std::uint32_t (&raw)[kWarpRows]) {
  const CodeTable table = code_table(kind);
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    const int place = (first_row + at) * kRowGroups + static_cast<int>(lane);
    const uint2 codes = codes_of(kept.symbols[at], table);
    raw[at] = 0;
    if (first_row + at >= rows) continue;
    raw[at] = raw_of(codes);
    *reinterpret_cast<std::uint16_t*>(out + parts.inner + 2 * place) =
        static_cast<std::uint16_t>(join_pairs(codes.x) | join_pairs(codes.y) << 8);
    out[parts.high_or_outer + place] =
        static_cast<std::byte>(join_bits(codes.x >> 2) | join_bits(codes.y >> 2) << 4);
  }
}

// What selects, of four bytes, those that a lane's four lowest bits name, one behind the other, and
// zeros behind them; above it three times their number.
__device__ inline std::uint32_t compacting_selector(unsigned lane) {
  std::uint32_t selector = 0x4444;
  std::uint32_t count = 0;
#pragma unroll
  for (unsigned byte = 0; byte < 4; ++byte) {
    if ((lane >> byte & 1) == 0) continue;
    selector ^= (4 ^ byte) << (4 * count);
    ++count;
  }
  return selector | 3 * count << 16;
}

// The outer codes of four values, one behind the other; three times their number in `bits`.
__device__ inline std::uint32_t join_outer(std::uint32_t codes, std::uint32_t selectors,
                                           std::uint32_t& bits) {
  const std::uint32_t selector = __shfl_sync(kAllLanes, selectors, join_bits(codes >> 2));
  bits = selector >> 16;
  std::uint32_t outer = permute(codes >> 4 & 0x07070707u, 0, selector);
  outer = (outer | outer >> 5) & 0x003F003Fu;
  return (outer | outer >> 10) & 0xFFFu;
}

template <Dtype kDtype>
__device__ void Encoder<kDtype>::put_entropy(const Kept& kept, const Parts& parts, unsigned kind,
                                             std::uint32_t before,
                                             std::uint32_t (&raw)[kWarpRows]) {
  const CodeTable table = code_table(kind);
  const std::uint32_t selectors = compacting_selector(lane);
  std::uint32_t outer[kWarpRows];
  std::uint32_t counts = 0;
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    const int place = (first_row + at) * kRowGroups + static_cast<int>(lane);
    const uint2 codes = codes_of(kept.symbols[at], table);
    std::uint32_t low_bits, high_bits;
    const std::uint32_t low = join_outer(codes.x, selectors, low_bits);
    const std::uint32_t high = join_outer(codes.y, selectors, high_bits);
    outer[at] = raw[at] = 0;
    if (first_row + at >= rows) continue;
    outer[at] = low | high << low_bits;
    raw[at] = raw_of(codes);
    // In threes, which fit 8 bits as the codes' number does in places.
    counts |= ((low_bits + high_bits) * 11 >> 5) << (8 * at);
    *reinterpret_cast<std::uint16_t*>(out + parts.inner + 2 * place) =
        static_cast<std::uint16_t>(join_pairs(codes.x) | join_pairs(codes.y) << 8);
  }
  const Places places = find_places(counts, lane);
  auto* const words = reinterpret_cast<std::uint32_t*>(out + parts.high_or_outer);
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    const std::uint32_t bit = 3 * (before + place_of(places, at));
    const std::uint32_t low = outer[at] << (bit % 32);
    const std::uint32_t high = __funnelshift_l(outer[at], 0, bit % 32);
    if (low != 0) atomicOr(words + bit / 32, low);
    if (high != 0) atomicOr(words + bit / 32 + 1, high);
  }
}

template <Dtype kDtype>
__device__ void Encoder<kDtype>::put_raw(const Kept& kept, const std::uint32_t (&raw)[kWarpRows],
                                         std::uint32_t before, std::byte* to) {
  std::uint32_t counts = 0;
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) counts |= __popc(raw[at]) << (8 * at);
  const Places places = find_places(counts, lane);
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    std::byte* next = to + before + place_of(places, at);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t exponents = half == 0 ? kept.exponents[at].x : kept.exponents[at].y;
      std::uint32_t left = (half == 0 ? raw[at] : raw[at] << 1) & kRawFlag * kBytesOnes;
      for (; left != 0; left &= left - 1) {
        *next++ = static_cast<std::byte>(exponents >> (__ffs(left) - 4));
      }
    }
  }
}

template <Dtype kDtype>
__device__ std::uint32_t Encoder<kDtype>::encode(std::uint64_t mode) {
  // What lies before the outer codes is the same in all kinds.
  const Parts common = parts_of<kDtype>(rows, 0, 0, 0);
  Kept kept;
  keep_rows(common, kept);
  const std::uint32_t padding = filled_up(rows) - rows;
  if (threadIdx.x < padding) out[common.bases + rows + threadIdx.x] = std::byte{0};
  for (std::uint32_t at = common.high_or_outer / 8 + threadIdx.x; at < kChunkBytes / 8;
       at += 32 * kWarps<kDtype>) {
    reinterpret_cast<std::uint64_t*>(out)[at] = 0;
  }
  __syncthreads();

  const WarpSums outer = sum_warps(state.outer, lane);
  const WarpSums raw_entropy = sum_warps(state.raw_entropy, lane);
  const WarpSums raw_fixed = sum_warps(state.raw_fixed, lane);
  const Counts counts = {.outer = {0, outer.all & 0xFFFF, 0, outer.all >> 16},
                         .raw = {raw_fixed.all & 0xFFFF, raw_entropy.all & 0xFFFF,
                                 raw_fixed.all >> 16, raw_entropy.all >> 16}};
  const unsigned kind = best_kind(counts, rows * kRowValues, mode);
  const bool is_entropy = (kind & kEntropyBit) != 0;
  const int shift = (kind & kZerosBit) != 0 ? 16 : 0;
  const std::uint32_t all_outer = is_entropy ? outer.all >> shift & 0xFFFF : 0;
  const std::uint32_t all_raw = (is_entropy ? raw_entropy.all : raw_fixed.all) >> shift & 0xFFFF;
  const Parts parts = parts_of<kDtype>(rows, kind, all_outer, all_raw);
  if (parts.end >= piece.bytes) return piece.bytes;

  if (threadIdx.x == 0) {
    *reinterpret_cast<std::uint64_t*>(out) = head_word(kind, all_outer, all_raw);
  }
  std::uint32_t raw[kWarpRows];
  if (is_entropy) {
    put_entropy(kept, parts, kind, outer.before >> shift & 0xFFFF, raw);
  } else {
    put_fixed(kept, parts, kind, raw);
  }
  if (all_raw != 0) {
    const std::uint32_t before = is_entropy ? raw_entropy.before : raw_fixed.before;
    put_raw(kept, raw, before >> shift & 0xFFFF, out + parts.raw);
  }
  __syncthreads();
  return parts.end;
}

}  // namespace thinwire::codec::expack
