// Decoding a chunk by one thread block; spec/codec-expack.md.
#pragma once

#include "codec/expack/verbatim.cuh"

namespace thinwire::codec::expack {

template <int kCount>
struct DecodeState {
  std::uint32_t outer[kCount];
  std::uint32_t raw[kCount];
};

// A lane's groups: exponents, and which of them are raw, those of the first four values at bits 0,
// 8, 16, 24, the others one above.
struct Found {
  uint2 exponents[kWarpRows];
  std::uint32_t raw[kWarpRows];
};

template <Dtype kDtype>
struct Decoder {
  using State = DecodeState<kWarps<kDtype>>;

  const std::byte* in;
  const cuda::Target& target;
  State& state;
  unsigned lane;
  int first_row;
  int rows;
  Parts parts;
  unsigned kind;
  std::uint32_t outer_codes;
  std::uint32_t raw_exponents;

  __device__ bool take_head(std::uint32_t bytes);
  __device__ std::uint32_t inner_codes(int at) const;
  __device__ std::uint32_t base(int at) const;
  __device__ void keep(uint2 distances, int at, Found& found) const;
  __device__ bool take_fixed(Found& found);
  __device__ bool take_entropy(Found& found);
  __device__ bool take_raw(Found& found);
  template <typename Sink>
  __device__ void put(const Found& found, const Sink& sink) const;
  template <typename Sink>
  __device__ bool decode(std::uint32_t bytes, const Sink& sink);
};

// False where the payload is not of the size that its head says.
template <Dtype kDtype>
__device__ bool Decoder<kDtype>::take_head(std::uint32_t bytes) {
  if (bytes < kHeadBytes) return false;
  const auto head = *reinterpret_cast<const uint2*>(in);
  outer_codes = head.x & 0xFFFF;
  raw_exponents = head.x >> 16;
  kind = head.y;
  if (kind >= kKinds || max(outer_codes, raw_exponents) > rows * kRowValues) return false;
  if ((kind & kEntropyBit) == 0 && outer_codes != 0) return false;
  parts = parts_of<kDtype>(rows, kind, outer_codes, raw_exponents);
  return parts.end == bytes;
}

// Of the lane's group of a row; 0 where the chunk has no such row.
template <Dtype kDtype>
__device__ std::uint32_t Decoder<kDtype>::inner_codes(int at) const {
  const int row = first_row + at;
  if (row >= rows) return 0;
  return *reinterpret_cast<const std::uint16_t*>(in + parts.inner +
                                                 2 * (row * kRowGroups + static_cast<int>(lane)));
}

template <Dtype kDtype>
__device__ std::uint32_t Decoder<kDtype>::base(int at) const {
  const int row = first_row + at;
  return row < rows ? static_cast<std::uint32_t>(in[parts.bases + row]) : 0;
}

// Two bits each of eight values as nibbles.
__device__ inline std::uint32_t split_codes(std::uint32_t codes) {
  codes = (codes | codes << 8) & 0x00FF00FFu;
  codes = (codes | codes << 4) & 0x0F0F0F0Fu;
  return (codes | codes << 2) & 0x33333333u;
}

// Exponents out of a group's distances, a byte each.
template <Dtype kDtype>
__device__ void Decoder<kDtype>::keep(uint2 distances, int at, Found& found) const {
  const std::uint32_t bases = base(at) * kBytesOnes;
  uint2 exponents = {bases + (distances.x & kDistanceBits * kBytesOnes),
                     bases + (distances.y & kDistanceBits * kBytesOnes)};
  if ((kind & kZerosBit) != 0) {
    exponents.x &= ~((distances.x >> 6 & kBytesOnes) * 0xFF);
    exponents.y &= ~((distances.y >> 6 & kBytesOnes) * 0xFF);
  }
  found.exponents[at] = exponents;
  found.raw[at] = (distances.x >> 7 & kBytesOnes) | (distances.y >> 6 & 2 * kBytesOnes);
  if (first_row + at >= rows) found.raw[at] = 0;
}

template <Dtype kDtype>
__device__ bool Decoder<kDtype>::take_fixed(Found& found) {
  const auto low = static_cast<std::uint32_t>(outer_distances(kind));
  const auto high = static_cast<std::uint32_t>(outer_distances(kind) >> 32);
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    const int row = first_row + at;
    std::uint32_t bits = 0;
    if (row < rows) {
      bits = static_cast<std::uint32_t>(
          in[parts.high_or_outer + row * kRowGroups + static_cast<int>(lane)]);
    }
    bits = (bits | bits << 12) & 0x000F000Fu;
    bits = (bits | bits << 6) & 0x03030303u;
    bits = (bits | bits << 3) & 0x11111111u;
    const std::uint32_t codes = split_codes(inner_codes(at)) | bits << 2;
    keep({permute(low, high, codes), permute(low, high, codes >> 16)}, at, found);
  }
  return true;
}

// What selects, for the values that a lane's four lowest bits name, one of four bytes each in
// order, and zeros for the others; above it eight times their number.
__device__ inline std::uint32_t spreading_selector(unsigned lane) {
  std::uint32_t selector = 0;
  std::uint32_t count = 0;
#pragma unroll
  for (unsigned value = 0; value < 4; ++value) {
    const bool is_named = (lane >> value & 1) != 0;
    selector |= (is_named ? count : 4) << (4 * value);
    count += is_named;
  }
  return selector | 8 * count << 16;
}

// Eight codes of three bits as nibbles; what lies above them as zeros.
__device__ inline std::uint32_t split_threes(std::uint32_t codes) {
  codes = (codes & 0x00000FFFu) | (codes << 4 & 0x0FFF0000u);
  codes = (codes & 0x003F003Fu) | (codes << 2 & 0x3F003F00u);
  return (codes & 0x07070707u) | (codes << 1 & 0x70707070u);
}

template <Dtype kDtype>
__device__ bool Decoder<kDtype>::take_entropy(Found& found) {
  std::uint32_t codes[kWarpRows];
  std::uint32_t outer[kWarpRows];  // a bit for each outer code, at the lower one of its inner code
  std::uint32_t counts = 0;
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    codes[at] = inner_codes(at);
    outer[at] = codes[at] & codes[at] >> 1 & 0x5555;
    counts |= __popc(outer[at]) << (8 * at);
  }
  const Places places = find_places(counts, lane);
  if (lane == 0) state.outer[threadIdx.x / 32] = places.total;
  __syncthreads();
  const WarpSums sums = sum_warps(state.outer, lane);
  if (sums.all != outer_codes) return false;

  const std::uint32_t inner = inner_distances(kind);
  const auto low = static_cast<std::uint32_t>(outer_distances(kind));
  const auto high = static_cast<std::uint32_t>(outer_distances(kind) >> 32);
  const std::uint32_t selectors = spreading_selector(lane);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(in + parts.high_or_outer);
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    const std::uint32_t bit = 3 * (sums.before + place_of(places, at));
    // The second word may be behind the codes, and is not used then.
    const std::uint32_t own = __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32);
    const std::uint32_t threes = split_threes(own);
    std::uint32_t has_outer = (outer[at] | outer[at] >> 1) & 0x3333;
    has_outer = (has_outer | has_outer >> 2) & 0x0F0F;
    const std::uint32_t first = __shfl_sync(kAllLanes, selectors, has_outer & 0xF);
    const std::uint32_t second = __shfl_sync(kAllLanes, selectors, has_outer >> 8);
    const std::uint32_t near = permute(low, high, threes);
    const std::uint32_t far = permute(low, high, threes >> 16);
    const std::uint32_t rest = __funnelshift_rc(near, far, first >> 16);
    const std::uint32_t nibbles = split_codes(codes[at]);
    keep({permute(inner, 0, nibbles) | permute(near, 0, first),
          permute(inner, 0, nibbles >> 16) | permute(rest, 0, second)},
         at, found);
  }
  return true;
}

// Puts raw exponents in their places. False, for all threads, where there are others than the head
// says, or where a base is too large.
template <Dtype kDtype>
__device__ bool Decoder<kDtype>::take_raw(Found& found) {
  std::uint32_t counts = 0;
  bool is_sound = true;
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    counts |= __popc(found.raw[at]) << (8 * at);
    is_sound &= base(at) <= kLargestBase<kDtype>;
  }
  if (raw_exponents == 0) return __syncthreads_and(is_sound && counts == 0) != 0;
  const Places places = find_places(counts, lane);
  if (lane == 0) state.raw[threadIdx.x / 32] = places.total;
  if (__syncthreads_and(is_sound) == 0) return false;
  const WarpSums sums = sum_warps(state.raw, lane);
  if (sums.all != raw_exponents) return false;
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    const std::byte* next = in + parts.raw + sums.before + place_of(places, at);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t left = found.raw[at] >> half & kBytesOnes;
      std::uint32_t exponents = half == 0 ? found.exponents[at].x : found.exponents[at].y;
      for (; left != 0; left &= left - 1) {
        const int place = __ffs(left) - 1;
        exponents &= ~(0xFFu << place);
        exponents |= static_cast<std::uint32_t>(*next++) << place;
      }
      (half == 0 ? found.exponents[at].x : found.exponents[at].y) = exponents;
    }
  }
  return true;
}

template <Dtype kDtype>
template <typename Sink>
__device__ void Decoder<kDtype>::put(const Found& found, const Sink& sink) const {
  constexpr int kBytes = Format<kDtype>::kValueBytes;
  using Word = WordOf<kDtype>;
  const bool is_simple =
      target.bytes == kChunkBytes && reinterpret_cast<std::uintptr_t>(target.at) % 16 == 0;
#pragma unroll
  for (int at = 0; at < kWarpRows; ++at) {
    const int row = first_row + at;
    if (row >= rows) return;
    const Group<kDtype> group = join_group<kDtype>(in, parts, row, lane, found.exponents[at]);
#pragma unroll
    for (int part = 0; part < Group<kDtype>::kParts; ++part) {
      const std::uint32_t first = row * kRowValues + Group<kDtype>::first(part, lane);
      const uint4 values = group.part[part];
      if (is_simple) {
        sink.put_aligned(target.at + first * kBytes, values);
        continue;
      }
      const std::uint32_t words[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
      for (int value = 0; value < Group<kDtype>::kPartValues; ++value) {
        constexpr int kWordValues = 4 / kBytes;
        if (first + value >= target.values) break;
        sink.put(
            target.at + (first + value) * kBytes,
            static_cast<Word>(words[value / kWordValues] >> (8 * kBytes * (value % kWordValues))));
      }
    }
  }
}

template <Dtype kDtype>
template <typename Sink>
__device__ bool Decoder<kDtype>::decode(std::uint32_t bytes, const Sink& sink) {
  if (!take_head(bytes)) return false;
  Found found;
  const bool has_codes = (kind & kEntropyBit) != 0 ? take_entropy(found) : take_fixed(found);
  if (!has_codes || !take_raw(found)) return false;
  put(found, sink);
  return true;
}

}  // namespace thinwire::codec::expack
