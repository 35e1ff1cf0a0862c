// The payloads of fixed_payload.cuh to values: a warp takes its stretch from memory to registers,
// and only fields of less than 8 bytes, and raw exponents, pass through shared memory.
#pragma once

#include "codec/cuda/sink.cuh"
#include "codec/expack/distances.cuh"
#include "codec/expack/fixed_payload.cuh"

namespace thinwire::codec::expack {

// Shared memory of a thread block, for raw exponents of two chunks: warps may still read the first
// one's while others write the next one's.
template <Dtype kDtype>
struct FixedRoom {
  using Payload = FixedPayload<kDtype>;

  // Words of a warp's inner codes, and of the pairs and signs of fp16.
  static constexpr int kPairs = 64, kSigns = 128;
  static constexpr int kFields = kDtype == Dtype::kF16 ? 160 : 64;

  std::uint64_t raw[2][Payload::kMostRawWords];
  std::uint64_t fields[kStretches][kFields];
};

// The exponents that codes of three bits stand for in a row, a byte each; 0 for raw ones.
struct FixedTable {
  std::uint32_t low, high;  // distances
  std::uint32_t low_mask;

  __device__ explicit FixedTable(bool has_zeros) : low_mask(has_zeros ? 0xFFFFFF00u : 0xFFFFFFFFu) {
    const std::uint64_t distances = outer_distances(has_zeros ? kZerosBit : 0);
    low = static_cast<std::uint32_t>(distances) & low_mask;
    high = static_cast<std::uint32_t>(distances >> 32) & kHighMask;
  }

  __device__ uint2 look_up(std::uint32_t codes, std::uint32_t bases) const {
    const std::uint32_t of_low = (low + bases) & low_mask, of_high = (high + bases) & kHighMask;
    return {permute(of_low, of_high, codes), permute(of_low, of_high, codes >> 16)};
  }

 private:
  static constexpr std::uint32_t kHighMask = 0x00FFFFFFu;
};

// The bits that `mask` names moved up by so many, the others left where they are. No bit meets
// another.
template <int kUp>
__device__ std::uint32_t move_up(std::uint32_t bits, std::uint32_t mask) {
  return bits + (bits & mask) * ((1u << kUp) - 1);
}

// Eight codes of a row as nibbles, from two bits and one bit of each.
__device__ inline std::uint32_t join_codes(std::uint32_t inner, std::uint32_t outer) {
  inner = move_up<4>(__byte_perm(inner, 0, 0x4140), 0x00F000F0u);
  inner = move_up<2>(inner, 0x0C0C0C0Cu);
  outer = move_up<12>(outer, 0xF0u);
  outer = move_up<6>(outer, 0x000C000Cu);
  return inner + 4 * move_up<3>(outer, 0x02020202u);
}

// Which of eight codes are 7, the highest bit of a nibble each.
__device__ inline std::uint32_t raw_codes(std::uint32_t codes) {
  return (codes + kNibbleOnes) & 8 * kNibbleOnes;
}

// One of eight bytes, four times.
__device__ inline std::uint32_t four_times(std::uint64_t bytes, int at) {
  const auto half = static_cast<std::uint32_t>(at < 4 ? bytes : bytes >> 32);
  return __byte_perm(half, 0, 0x1111 * (at % 4));
}

// A lane's part of a stretch.
template <Dtype kDtype>
class FixedStretch {
  using Payload = FixedPayload<kDtype>;
  using Room = FixedRoom<kDtype>;

 public:
  // `payload` lies at a multiple of 8, and has the size of one of fixed_payload.cuh.
  __device__ FixedStretch(const std::uint64_t* payload, std::uint32_t bytes)
      : raw_words_((bytes - Payload::kParts.raw) / 8), words_(payload, raw_words_) {}

  // Takes codes apart, and raw exponents to where all warps see them after a barrier; returns the
  // thread's part of the payload's checksum, if that is wanted.
  __device__ std::uint64_t take(const std::uint64_t* payload, bool sums, std::uint64_t* raw,
                                Room& room);

  // Whether the payload is one of fixed_payload.cuh. This and what follows, after take().
  __device__ bool is_fixed() const { return is_fixed_; }

  // False, for all of the warp, if the stretch's parts disagree.
  __device__ bool is_sound() const { return is_sound_; }

  // Values to `out`, the place of the chunk's first one, after a barrier.
  template <typename Sink>
  __device__ void put(const std::uint64_t* raw, const Room& room, std::byte* out,
                      const Sink& sink) const;

 private:
  __device__ void take_fields(Room& room) const;
  __device__ std::uint32_t take_codes(const Room& room);
  __device__ void take_head(std::uint32_t raw_of_stretch);
  __device__ uint4 join(const Room& room, int row, uint2 exponents) const;

  std::uint32_t raw_words_;
  FixedWords<kDtype> words_;
  std::uint32_t codes_[Payload::kRows];  // of a row's group, a nibble each
  std::uint32_t next_raw_;               // the lane's first raw exponent among the chunk's
  bool has_zeros_, is_fixed_, is_sound_;
};

template <Dtype kDtype>
__device__ std::uint64_t FixedStretch<kDtype>::take(const std::uint64_t* payload, bool sums,
                                                    std::uint64_t* raw, Room& room) {
  FixedSum<kDtype> sum;
  take_fields(room);
  std::uint64_t word = words_.raw;
#pragma unroll 1
  for (std::uint32_t at = threadIdx.x; at < raw_words_; at += 32 * kStretches) {
    if (at != threadIdx.x) word = payload[Payload::kRawWord + at];
    raw[at] = word;
    if (sums) sum.take_single(word, Payload::kRawWord + at);
  }
  if (sums) sum.take(words_);
  const std::uint32_t own = take_codes(room);
  const std::uint32_t up_to = cuda::sum_up_to_lane(own);
  next_raw_ = up_to - own;
  take_head(__shfl_sync(kAllLanes, up_to, 31));
  return sum.sum();
}

template <Dtype kDtype>
__device__ void FixedStretch<kDtype>::take_fields(Room& room) const {
  std::uint64_t* const fields = room.fields[threadIdx.x / 32] + threadIdx.x % 32;
  __syncwarp();  // others may still read what was here
  fields[0] = words_.own[Payload::kInner];
  fields[32] = words_.own[Payload::kInner + 1];
  if constexpr (kDtype == Dtype::kF16) {
    fields[Room::kPairs] = words_.own[Payload::kPairs];
    fields[Room::kPairs + 32] = words_.own[Payload::kPairs + 1];
    fields[Room::kSigns] = words_.own[Payload::kSigns];
  }
  __syncwarp();
}

// Returns how many of the lane's exponents are raw.
template <Dtype kDtype>
__device__ std::uint32_t FixedStretch<kDtype>::take_codes(const Room& room) {
  const auto* const inner =
      reinterpret_cast<const std::uint16_t*>(room.fields[threadIdx.x / 32]) + threadIdx.x % 32;
  const std::uint64_t outer = words_.own[Payload::kOuter];
  std::uint32_t raw = 0;
#pragma unroll
  for (int row = 0; row < Payload::kRows; ++row) {
    const auto half = static_cast<std::uint32_t>(row < 4 ? outer : outer >> 32);
    const std::uint32_t bits = __byte_perm(half, 0, 0x4440 + row % 4);
    codes_[row] = join_codes(inner[row * kRowGroups], bits);
    raw += __popc(raw_codes(codes_[row]));
  }
  return raw;
}

// All that follows from the head, in a stretch of so many raw exponents.
template <Dtype kDtype>
__device__ void FixedStretch<kDtype>::take_head(std::uint32_t raw_of_stretch) {
  const unsigned warp = threadIdx.x / 32;
  const std::uint32_t word = words_.head_word(warp);
  const std::uint32_t begin = warp == 0 ? 0 : raw_end_of(words_.head_word(warp - 1));
  const std::uint32_t last = words_.head_word(kStretches - 1);
  const std::uint32_t all = words_.head_word(0) | words_.head_word(1) | words_.head_word(2) | last;
  static_assert(Payload::kRows == 8);
  const unsigned lane = threadIdx.x % 32;
  const auto base = static_cast<std::uint32_t>(words_.bases >> (8 * (lane % 8))) & 0xFF;
  const bool is_base = __ballot_sync(kAllLanes, base > kLargestBase<kDtype>) == 0;
  next_raw_ += begin;
  has_zeros_ = (kind_of(word) & kZerosBit) != 0;
  is_fixed_ = (all & kHeadFlag) == 0 && (kind_of(all) & kEntropyBit) == 0;
  is_sound_ = is_base && filled_up(raw_end_of(last)) == 8 * raw_words_ &&
              outer_end_of(word) == (warp + 1) * Payload::kStretchBits &&
              raw_end_of(word) <= raw_end_of(last) && begin + raw_of_stretch == raw_end_of(word);
}

// Values of a lane's group, whose exponents are a byte each.
template <Dtype kDtype>
__device__ uint4 FixedStretch<kDtype>::join(const Room& room, int row, uint2 exponents) const {
  const std::uint64_t plane = words_.own[row];
  uint2 lows = {static_cast<std::uint32_t>(plane), static_cast<std::uint32_t>(plane >> 32)};
  uint2 highs;
  if constexpr (kDtype == Dtype::kBf16) {
    highs = {highs_with(lows.x, exponents.x), highs_with(lows.y, exponents.y)};
    lows = {lows_with(lows.x, exponents.x), lows_with(lows.y, exponents.y)};
  } else {
    const int place = row * kRowGroups + static_cast<int>(threadIdx.x % 32);
    const std::uint64_t* const fields = room.fields[threadIdx.x / 32];
    const std::uint32_t pairs =
        reinterpret_cast<const std::uint16_t*>(fields + Room::kPairs)[place];
    const std::uint32_t signs = reinterpret_cast<const std::uint8_t*>(fields + Room::kSigns)[place];
    highs = {(exponents.x << 2 & 0x7C7C7C7Cu) | split_pairs(pairs & 0xFF) | split_signs(signs),
             (exponents.y << 2 & 0x7C7C7C7Cu) | split_pairs(pairs >> 8) | split_signs(signs >> 4)};
  }
  return {__byte_perm(lows.x, highs.x, 0x5140), __byte_perm(lows.x, highs.x, 0x7362),
          __byte_perm(lows.y, highs.y, 0x5140), __byte_perm(lows.y, highs.y, 0x7362)};
}

template <Dtype kDtype>
template <typename Sink>
__device__ void FixedStretch<kDtype>::put(const std::uint64_t* raw, const Room& room,
                                          std::byte* out, const Sink& sink) const {
  constexpr std::uint32_t kRowBytes = 2 * kRowValues;
  const FixedTable table(has_zeros_);
  const auto* next = reinterpret_cast<const std::uint8_t*>(raw) + next_raw_;
  std::byte* const to = out + threadIdx.x / 32 * Payload::kRows * kRowBytes + threadIdx.x % 32 * 16;
#pragma unroll
  for (int row = 0; row < Payload::kRows; ++row) {
    uint2 exponents = table.look_up(codes_[row], four_times(words_.bases, row));
#pragma unroll 1
    for (std::uint32_t left = raw_codes(codes_[row]); left != 0; left &= left - 1) {
      const int place = 2 * __ffs(static_cast<int>(left)) - 8;
      const std::uint64_t moved = std::uint64_t{*next++} << place;
      exponents.x |= static_cast<std::uint32_t>(moved);
      exponents.y |= static_cast<std::uint32_t>(moved >> 32);
    }
    sink.put_aligned(to + row * kRowBytes, join(room, row, exponents));
  }
}

}  // namespace thinwire::codec::expack
