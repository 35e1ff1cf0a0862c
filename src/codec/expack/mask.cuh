// Masks of the values that are not zero, by one thread block; spec/codec-expack.md.
#pragma once

#include "codec/expack/choices.h"
#include "codec/expack/verbatim.cuh"

namespace thinwire::codec::expack {

// A lane's bytes of the mask: a bit for each value of its group, in each of its rows.
template <int kRows>
struct LaneMask {
  std::uint32_t bytes[(kRows + 3) / 4] = {};

  __device__ void put(int at, std::uint32_t bits) { bytes[at / 4] |= bits << (8 * (at % 4)); }
  __device__ std::uint32_t of_row(int at) const { return bytes[at / 4] >> (8 * (at % 4)) & 0xFF; }
};

// Which of the values that a mask keeps are the lane's.
template <int kRows>
struct KeptPlaces {
  std::uint32_t first[kRows];  // of the lane's in each row
  std::uint32_t all;           // values that the mask of the chunk keeps
};

// `scratch` is shared memory of a number a warp. For whole thread blocks; has a barrier.
template <int kRows>
__device__ KeptPlaces<kRows> find_kept(const LaneMask<kRows>& mask,
                                       std::uint32_t (&scratch)[kStretches]) {
  KeptPlaces<kRows> places;
  std::uint32_t before = 0;
  // The rows' numbers of values, two at once.
#pragma unroll
  for (int at = 0; at < kRows; at += 2) {
    std::uint32_t own = __popc(mask.of_row(at));
    if (at + 1 < kRows) own |= __popc(mask.of_row(at + 1)) << 16;
    const std::uint32_t up_to = cuda::sum_up_to_lane(own);
    const std::uint32_t all = __shfl_sync(kAllLanes, up_to, 31);
    places.first[at] = before + ((up_to - own) & 0xFFFF);
    before += all & 0xFFFF;
    if (at + 1 < kRows) places.first[at + 1] = before + ((up_to - own) >> 16);
    before += all >> 16;
  }
  const Shares shares = share(before, scratch);
  places.all = shares.all;
#pragma unroll
  for (int at = 0; at < kRows; ++at) places.first[at] += shares.before;
  return places;
}

// The value `at` of a group.
template <Dtype kDtype>
__device__ WordOf<kDtype> value_of(const Group<kDtype>& group, int at) {
  constexpr int kWordValues = 4 / Format<kDtype>::kValueBytes;
  std::uint32_t words[Group<kDtype>::kWords];
  take_words(group.part[at / Group<kDtype>::kPartValues], words);
  const int within = at % Group<kDtype>::kPartValues;
  return static_cast<WordOf<kDtype>>(words[within / kWordValues] >>
                                     (32 / kWordValues * (within % kWordValues)));
}

// A bit for each value of a row's group that is not zero. Values after the array's last one count
// as zero.
template <Dtype kDtype>
__device__ std::uint32_t not_zero(const Group<kDtype>& group, int row, unsigned lane,
                                  std::uint32_t values) {
  std::uint32_t bits = 0;
#pragma unroll
  for (int at = 0; at < kGroupValues; ++at) bits |= (value_of(group, at) != 0 ? 1u : 0u) << at;
  if ((row + 1) * kRowValues <= static_cast<int>(values)) return bits;
#pragma unroll
  for (int at = 0; at < kGroupValues; ++at) {
    const std::uint32_t place = row * kRowValues +
                                Group<kDtype>::first(at / Group<kDtype>::kPartValues, lane) +
                                at % Group<kDtype>::kPartValues;
    if (place >= values) bits &= ~(1u << at);
  }
  return bits;
}

// If the chunk should have a mask, writes it into the payload, and after it the values that it
// keeps, one after the other; returns their number. For whole thread blocks; has barriers.
template <Dtype kDtype, int kRows>
__device__ std::uint32_t leave_zeros_out(const cuda::Piece& piece, const Rows& rows, unsigned lane,
                                         std::byte* out, std::uint32_t (&scratch)[kStretches]) {
  using Word = WordOf<kDtype>;
  Group<kDtype> groups[kRows];
  load_rows<kDtype>(piece, rows, lane, groups);
  LaneMask<kRows> mask;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at < rows.count) mask.put(at, not_zero(groups[at], rows.first + at, lane, piece.values));
  }
  const KeptPlaces<kRows> places = find_kept(mask, scratch);
  if (!takes_mask<kDtype>(piece.values - places.all, piece.values)) return places.all;
  std::byte* const to = out + kHeadBytes + rows.all * kRowGroups;
#pragma unroll
  for (int at = 0; at < kRows; ++at) {
    if (at >= rows.count) break;
    const std::uint32_t bits = mask.of_row(at);
    out[kHeadBytes + (rows.first + at) * kRowGroups + static_cast<int>(lane)] =
        static_cast<std::byte>(bits);
    auto* next = reinterpret_cast<Word*>(to) + places.first[at];
#pragma unroll
    for (int value = 0; value < kGroupValues; ++value) {
      if ((bits >> value & 1) != 0) *next++ = value_of(groups[at], value);
    }
  }
  __syncthreads();
  return places.all;
}

// The reverse for a group: `kept_value` tells a kept value by its number, `next` is the first.
template <Dtype kDtype, typename KeptValue>
__device__ Group<kDtype> with_zeros_in(std::uint32_t next, std::uint32_t bits,
                                       const KeptValue& kept_value) {
  constexpr int kWordValues = 4 / Format<kDtype>::kValueBytes;
  std::uint32_t words[Group<kDtype>::kParts][Group<kDtype>::kWords] = {};
#pragma unroll
  for (int value = 0; value < kGroupValues; ++value) {
    const std::uint32_t word = (bits >> value & 1) != 0 ? kept_value(next++) : 0;
    const int within = value % Group<kDtype>::kPartValues;
    words[value / Group<kDtype>::kPartValues][within / kWordValues] |=
        word << (32 / kWordValues * (within % kWordValues));
  }
  Group<kDtype> group;
#pragma unroll
  for (int part = 0; part < Group<kDtype>::kParts; ++part) {
    put_words(words[part], group.part[part]);
  }
  return group;
}

}  // namespace thinwire::codec::expack
