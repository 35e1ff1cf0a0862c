// A chunk of MPC by one thread block, a unit by each of its warps; spec/codec-mpc.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/mpc/rows.cuh"

namespace thinwire::codec::mpc {

template <Dtype kType>
struct ChunkCoder {
  static constexpr Dtype kDtype = kType;
  using Word = WordOf<kDtype>;
  static constexpr int kThreads = 32 * kChunkUnits;
  static constexpr int kResident = sizeof(Word) == 4 ? 6 : 3;
  // As rows; the payload takes their memory, and is never larger.
  static constexpr std::uint32_t kPayloadBytes = kThreads * Rows<Word>::kPitch;
  static_assert(kPayloadBytes >= kChunkValues * (sizeof(Word) + 1.0 / 8));

  struct State {
    int words[kChunkUnits];  // that each unit's bitmaps count
  };

  __device__ static std::uint32_t encode(const cuda::Piece& piece, std::uint64_t* payload,
                                         std::uint64_t parameter, State& state);
  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t parameter, State& state,
                                const Sink& sink);

 private:
  // The 32 bits of bitmap that belong to a thread.
  struct Bitmap {
    std::uint32_t bytes;  // of the chunk's bitmaps
    bool is_own;          // whether the chunk has this thread's part

    __device__ explicit Bitmap(std::uint32_t values)
        : bytes(static_cast<std::uint32_t>(bitmap_bytes<Word>(values))),
          is_own(4 * threadIdx.x < bytes) {}
  };

  __device__ static void subtract(const Rows<Word>& rows, int stride, LaneWords<Word>& words);
  __device__ static void add_along(const Rows<Word>& rows, std::uint32_t first, std::uint32_t end,
                                   int stride);
};

// Every value less the one `stride` before it in its unit.
template <Dtype kType>
__device__ void ChunkCoder<kType>::subtract(const Rows<Word>& rows, int stride,
                                            LaneWords<Word>& words) {
  if (with_frequent_stride(stride, [&](auto kStride) { subtract_before<kStride>(words); })) return;
  // Before the unit's first value there is none.
  const int first = static_cast<int>(threadIdx.x % 32) * kLaneValues;
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) {
    const std::uint32_t other = threadIdx.x * kLaneValues + at - stride;
    if (first + at >= stride) words[at] -= rows.value(other);
  }
}

template <Dtype kType>
__device__ std::uint32_t ChunkCoder<kType>::encode(const cuda::Piece& piece, std::uint64_t* payload,
                                                   std::uint64_t parameter, State& state) {
  const Rows<Word> rows{reinterpret_cast<std::byte*>(payload)};
  rows.read(piece.at, piece.bytes);
  __syncthreads();
  LaneWords<Word> words;
  rows.load(words);
  subtract(rows, static_cast<int>(parameter), words);
  const int own_values = static_cast<int>(piece.values) - static_cast<int>(32 * threadIdx.x);
  if (own_values < kLaneValues) {
#pragma unroll
    for (int at = 0; at < kLaneValues; ++at) words[at] = at < own_values ? words[at] : 0;
  }
  transpose_groups(words);
  subtract_before<1>(words);
  // Words after the chunk's last group come from padding alone, and are not stored.
  const Bitmap bitmap(piece.values);
  const std::uint32_t present = bitmap.is_own ? presence<Word>(words) : 0;
  const auto [first, total] = cuda::sum_before_thread<kThreads>(__popc(present), state.words);
  // All values have been read: their memory takes the payload.
  if (bitmap.is_own) reinterpret_cast<std::uint32_t*>(payload)[threadIdx.x] = present;
  auto* next = reinterpret_cast<Word*>(rows.base + bitmap.bytes) + first;
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) {
    if ((present >> at & 1) != 0) *next++ = words[at];
  }
  __syncthreads();
  return bitmap.bytes + static_cast<std::uint32_t>(total * sizeof(Word));
}

template <Dtype kType>
template <typename Sink>
__device__ bool ChunkCoder<kType>::decode(std::uint64_t* payload, std::uint32_t bytes,
                                          const cuda::Target& target, std::uint64_t parameter,
                                          State& state, const Sink& sink) {
  const Bitmap bitmap(target.values);
  if (bytes < bitmap.bytes) return false;
  const std::uint32_t present =
      bitmap.is_own ? reinterpret_cast<const std::uint32_t*>(payload)[threadIdx.x] : 0;
  const auto [first, total] = cuda::sum_before_thread<kThreads>(__popc(present), state.words);
  if (bytes != bitmap.bytes + total * sizeof(Word)) return false;

  const Rows<Word> rows{reinterpret_cast<std::byte*>(payload)};
  const auto* next = reinterpret_cast<const Word*>(rows.base + bitmap.bytes) + first;
  LaneWords<Word> words;
#pragma unroll
  for (int at = 0; at < kLaneValues; ++at) {
    words[at] = 0;
    if ((present >> at & 1) != 0) words[at] = *next++;
  }
  add_before<1>(words);
  transpose_groups(words);
  const int stride = static_cast<int>(parameter);
  const bool is_added =
      with_frequent_stride(stride, [&](auto kStride) { add_before<kStride>(words); });
  __syncthreads();
  // The payload has been read: its memory takes the values.
  rows.store(words);
  __syncwarp();
  const std::uint32_t unit = threadIdx.x / 32 * kUnitValues;
  const std::uint32_t past = unit + kUnitValues;
  const std::uint32_t end = past < target.values ? past : target.values;
  if (unit >= end) return true;
  if (!is_added) {
    add_along(rows, unit, end, stride);
    __syncwarp();
  }
  rows.write(sink, target.at, unit, end);
  return true;
}

// Each value of a unit plus the one `stride` before it, from `first` to `end`. There are `stride`
// chains of such values; as many lanes as possible share a chain, each with a stretch of it.
template <Dtype kType>
__device__ void ChunkCoder<kType>::add_along(const Rows<Word>& rows, std::uint32_t first,
                                             std::uint32_t end, int stride) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int sharers = 32 / stride;
  const int share = lane / stride;
  const int links = (kUnitValues + stride - 1) / stride;  // of the longest chain
  const int length = (links + sharers - 1) / sharers;     // of a stretch
  const std::uint32_t begin = first + lane % stride + share * length * stride;
  const std::uint32_t past = begin + length * stride;
  const std::uint32_t own_end = share >= sharers ? begin : past < end ? past : end;
  Word sum = 0;
#pragma unroll 4
  for (std::uint32_t at = begin; at < own_end; at += stride) sum += rows.value(at);
  const Word own = sum;
  for (int offset = stride; offset < 32; offset *= 2) {
    const Word left = __shfl_up_sync(kAllLanes, sum, offset);
    if (lane >= offset) sum += left;
  }
  sum -= own;
#pragma unroll 4
  for (std::uint32_t at = begin; at < own_end; at += stride) {
    sum += rows.value(at);
    rows.value(at) = sum;
  }
}

}  // namespace thinwire::codec::mpc
