// Payloads of whole chunks of 16-bit values without mask or dictionary, all of whose stretches have
// kinds 0 or 2: all parts but raw exponents have the same positions in each.
//
// Such a payload is words of 64 bits. After the head and the bases come rows of 32 words, one for
// each lane of a warp; raw exponents begin where the last row ends.
#pragma once

#include "base/checksum.h"
#include "codec/cuda/checksum.cuh"
#include "codec/expack/warp.cuh"

namespace thinwire::codec::expack {

template <Dtype kDtype>
struct FixedPayload {
  static_assert(Format<kDtype>::kValueBytes == 2);
  static constexpr std::uint32_t kValues = kChunkBytes / 2;
  static constexpr int kRows = kValues / kRowValues / kStretches;      // of a stretch
  static constexpr std::uint32_t kStretchBits = kValues / kStretches;  // of outer codes
  static constexpr Parts kParts = parts_of<kDtype>(whole_extent(kValues / kRowValues), kValues, 0);
  static constexpr std::uint32_t kRawWord = kParts.raw / 8;
  static constexpr std::uint32_t kMostRawWords = (kChunkBytes - kParts.raw) / 8;
  static constexpr std::uint32_t kBasesWord = kParts.bases / 8;
  static constexpr std::uint32_t kFirstWord = kParts.plane[0] / 8;  // of the rows of words

  // The words that a lane has of its stretch: one of each of its rows, then those of fields.
  static constexpr int kInner = kRows;
  static constexpr int kOuter = kInner + 2;
  static constexpr int kPairs = kOuter + 1;  // of fp16
  static constexpr int kSigns = kPairs + 2;
  static constexpr int kWords = kDtype == Dtype::kF16 ? kSigns + 1 : kOuter + 1;

  // The row of words from which the lanes of a warp have word `at`.
  __device__ static constexpr std::uint32_t row_of(int at, unsigned warp) {
    const auto row = [](std::uint32_t offset) { return (offset - kParts.plane[0]) / 256; };
    if (at < kInner) return kRows * warp + at;
    if (at < kOuter) return row(kParts.inner) + 2 * warp + at - kInner;
    if (at < kPairs) return row(kParts.outer) + warp;
    if (at < kSigns) return row(kParts.plane[1]) + 2 * warp + at - kPairs;
    return row(kParts.plane[2]) + warp;
  }
};

// A lane's part of a payload.
template <Dtype kDtype>
struct FixedWords {
  using Payload = FixedPayload<kDtype>;

  std::uint64_t head[2];
  std::uint64_t bases;  // of the stretch's rows, a byte each
  std::uint64_t own[Payload::kWords];
  std::uint64_t raw;  // exponents: the word with the thread's number, if there are so many

  // Starts all loads. The payload has `raw_words` words of raw exponents.
  __device__ FixedWords(const std::uint64_t* payload, std::uint32_t raw_words) {
    const std::size_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const std::uint64_t* const rows = payload + Payload::kFirstWord + lane;
    const auto load = [&](int from, int to, std::size_t stride) {
      const std::uint64_t* const first = rows + 32 * Payload::row_of(from, 0) + stride * warp;
#pragma unroll
      for (int at = from; at < to; ++at) own[at] = __ldcs(first + 32 * (at - from));
    };
    head[0] = __ldcs(payload);
    head[1] = __ldcs(payload + 1);
    load(Payload::kInner, Payload::kOuter, 64);
    load(Payload::kOuter, Payload::kPairs, 32);
    bases = __ldcs(payload + Payload::kBasesWord + warp);
    raw = 0;
    if (threadIdx.x < raw_words) raw = __ldcs(payload + Payload::kRawWord + threadIdx.x);
    load(0, Payload::kRows, 32 * Payload::kRows);
    if constexpr (kDtype == Dtype::kF16) {
      load(Payload::kPairs, Payload::kSigns, 64);
      load(Payload::kSigns, Payload::kWords, 32);
    }
  }

  __device__ std::uint32_t head_word(unsigned stretch) const {
    const std::uint64_t two = stretch < 2 ? head[0] : head[1];
    return static_cast<std::uint32_t>(stretch % 2 == 0 ? two : two >> 32);
  }
};

// A word's part of the checksum, by its place in the payload.
__device__ inline std::uint64_t weighted(std::uint64_t word, std::uint32_t at) {
  return checksum_weight(at / kChecksumLanes) *
         checksum_product(word, checksum_key(at % kChecksumLanes));
}

// A thread's part of the payload's checksum.
template <Dtype kDtype>
class FixedSum {
  using Payload = FixedPayload<kDtype>;

 public:
  // All words but those of raw exponents.
  __device__ void take(const FixedWords<kDtype>& words) {
    const unsigned warp = threadIdx.x / 32;
    take_rows(words.own, warp);
#pragma unroll
    for (int at = Payload::kRows; at < Payload::kWords; ++at) {
      const std::uint32_t row = Payload::row_of(at, warp);
      const std::uint32_t place = row % 4 * 32 + Payload::kFirstWord + threadIdx.x % 32;
      sum_ += checksum_weight(row / 4 + place / kChecksumLanes) *
              checksum_product(words.own[at], checksum_key(place % kChecksumLanes));
    }
    if (threadIdx.x % 32 == 0) take_single(words.bases, Payload::kBasesWord + warp);
    if (threadIdx.x == 0) {
      take_single(words.head[0], 0);
      take_single(words.head[1], 1);
    }
  }

  __device__ void take_single(std::uint64_t word, std::uint32_t number) {
    sum_ += weighted(word, number);
  }

  __device__ std::uint64_t sum() const { return sum_; }

 private:
  // The words of the stretch's rows, which are those of two blocks. A row of words has a quarter of
  // the keys; the last words of the last quarter begin the next block.
  __device__ void take_rows(const std::uint64_t* rows, unsigned warp) {
    static_assert(kChecksumLanes == 4 * 32 && Payload::kRows == 8 && Payload::kFirstWord < 32);
    std::uint64_t first = 0, second = 0, last = 0;
#pragma unroll
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
      const std::uint32_t place = 32 * quarter + Payload::kFirstWord + threadIdx.x % 32;
      const std::uint64_t key = checksum_key(place % kChecksumLanes);
      const std::uint64_t of_second = checksum_product(rows[4 + quarter], key);
      if (quarter == 3) last = checksum_product(rows[quarter], key) + of_second;
      first += quarter == 3 ? last : checksum_product(rows[quarter], key) + of_second;
      second += of_second;
    }
    const bool is_in_next = Payload::kFirstWord + threadIdx.x % 32 >= 32;
    sum_ += checksum_weight(2 * warp) * first + 2 * second + (is_in_next ? 2 * last : 0);
  }

  std::uint64_t sum_ = 0;
};

}  // namespace thinwire::codec::expack
