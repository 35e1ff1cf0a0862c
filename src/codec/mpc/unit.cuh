// A chunk of MPC by one thread block, a unit by each of its warps; spec/codec-mpc.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/cuda/piece.cuh"
#include "codec/mpc/group.cuh"

namespace thinwire::codec::mpc {

template <Dtype kType>
struct ChunkCoder {
  static constexpr Dtype kDtype = kType;
  using Word = WordOf<kDtype>;
  static constexpr int kThreads = 32 * kChunkUnits;
  static constexpr int kResident = sizeof(Word) == 4 ? 6 : 3;
  static constexpr int kUnitGroups = kUnitValues / kWordBits<Word>;
  static constexpr int kBatches = kUnitGroups / kBatch<Word>;

  // Values of a unit in shared memory: a word is left free behind each 32, so that lanes that go
  // through neighbouring stretches meet different banks.
  static constexpr int kUnitSlots = kUnitValues + kUnitValues / 32;
  static constexpr std::uint32_t kPayloadBytes =
      kChunkUnits *
      (kUnitSlots > kUnitValues + kUnitGroups ? kUnitSlots : kUnitValues + kUnitGroups) *
      sizeof(Word);

  struct State {
    int words[kChunkUnits];  // that each unit's bitmaps count
  };

  // What a thread knows of its chunk and of its warp's unit.
  struct Place {
    unsigned lane;
    int unit;
    int groups;       // of the chunk
    int unit_values;  // 0 for a unit that the chunk lacks

    __device__ Place(std::uint32_t raw_bytes)
        : lane(threadIdx.x % 32), unit(static_cast<int>(threadIdx.x / 32)) {
      const int values = static_cast<int>(raw_bytes / sizeof(Word));
      groups = (values + kWordBits<Word> - 1) / kWordBits<Word>;
      const int left = values - unit * kUnitValues;
      unit_values = left < 0 ? 0 : left < kUnitValues ? left : kUnitValues;
    }
  };

  __device__ static std::uint32_t encode(const cuda::Piece& piece, std::uint64_t* payload,
                                         std::uint64_t parameter, State& state);
  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t parameter, State& state,
                                const Sink& sink);

 private:
  // Where this unit's words begin among the chunk's, `total` in the end.
  __device__ static int first_word(const State& state, int unit, int& total) {
    int first = 0;
    total = 0;
#pragma unroll
    for (int other = 0; other < kChunkUnits; ++other) {
      if (other == unit) first = total;
      total += state.words[other];
    }
    return first;
  }

  __device__ static int slot(int value) { return value + value / 32; }
  __device__ static void undo_differences(Word* values, int count, int stride, unsigned lane);
};

template <Dtype kType>
__device__ std::uint32_t ChunkCoder<kType>::encode(const cuda::Piece& piece, std::uint64_t* payload,
                                                   std::uint64_t parameter, State& state) {
  cuda::copy_in(payload, piece.at, piece.bytes);
  __syncthreads();
  const Place place(piece.bytes);
  const int stride = static_cast<int>(parameter);
  const Word* const values = reinterpret_cast<const Word*>(payload) + place.unit * kUnitValues;

  Word words[kBatches][kBatchWords<Word>];
  Word own_presence = 0;  // of the group with the lane's number
  Word before = 0;
#pragma unroll
  for (int batch = 0; batch < kBatches; ++batch) {
#pragma unroll
    for (int at = 0; at < kBatchWords<Word>; ++at) {
      const int value = 32 * (batch * kBatchWords<Word> + at) + static_cast<int>(place.lane);
      Word word = value < place.unit_values ? values[value] : Word{0};
      if (value >= stride && value < place.unit_values) word -= values[value - stride];
      words[batch][at] = word;
    }
    transpose(words[batch], place.lane);
    subtract_neighbours(words[batch], place.lane, before);
#pragma unroll
    for (int at = 0; at < kBatch<Word>; ++at) {
      const Word present = presence(words[batch] + at * kLaneWords<Word>);
      if (static_cast<int>(place.lane) == batch * kBatch<Word> + at) own_presence = present;
    }
  }
  // What lies behind the chunk's last group is padding of padding, and not stored.
  const int own_group = place.unit * kUnitGroups + static_cast<int>(place.lane);
  const bool has_group = static_cast<int>(place.lane) < kUnitGroups && own_group < place.groups;
  if (!has_group) own_presence = 0;

  const int own_words = count_bits(own_presence);
  const int up_to = sum_of_lanes(own_words, place.lane);
  if (place.lane == 31) state.words[place.unit] = up_to;
  __syncthreads();
  // All values have been read: their memory takes the payload.
  int total = 0;
  const int first = place.groups + first_word(state, place.unit, total);
  Word* const out = reinterpret_cast<Word*>(payload);
  if (has_group) out[own_group] = own_presence;
#pragma unroll
  for (int group = 0; group < kUnitGroups; ++group) {
    const Word present = __shfl_sync(kAllLanes, own_presence, group);
    const int start = first + __shfl_sync(kAllLanes, up_to - own_words, group);
#pragma unroll
    for (int at = 0; at < kLaneWords<Word>; ++at) {
      if ((present >> (place.lane + 32 * at) & 1) == 0) continue;
      out[start + words_before(present, place.lane, at)] =
          words[group / kBatch<Word>][group % kBatch<Word> * kLaneWords<Word> + at];
    }
  }
  __syncthreads();
  return static_cast<std::uint32_t>((place.groups + total) * sizeof(Word));
}

template <Dtype kType>
template <typename Sink>
__device__ bool ChunkCoder<kType>::decode(std::uint64_t* payload, std::uint32_t bytes,
                                          const cuda::Target& target, std::uint64_t parameter,
                                          State& state, const Sink& sink) {
  const Place place(target.bytes);
  Word* const in = reinterpret_cast<Word*>(payload);
  if (bytes < place.groups * sizeof(Word)) return false;
  const int own_group = place.unit * kUnitGroups + static_cast<int>(place.lane);
  const bool has_group = static_cast<int>(place.lane) < kUnitGroups && own_group < place.groups;
  const Word own_presence = has_group ? in[own_group] : Word{0};
  const int own_words = count_bits(own_presence);
  const int up_to = sum_of_lanes(own_words, place.lane);
  if (place.lane == 31) state.words[place.unit] = up_to;
  __syncthreads();
  int total = 0;
  const int first = place.groups + first_word(state, place.unit, total);
  if (bytes != (place.groups + total) * sizeof(Word)) return false;

  Word words[kBatches][kBatchWords<Word>];
#pragma unroll
  for (int group = 0; group < kUnitGroups; ++group) {
    const Word present = __shfl_sync(kAllLanes, own_presence, group);
    const int start = first + __shfl_sync(kAllLanes, up_to - own_words, group);
#pragma unroll
    for (int at = 0; at < kLaneWords<Word>; ++at) {
      const bool is_there = (present >> (place.lane + 32 * at) & 1) != 0;
      words[group / kBatch<Word>][group % kBatch<Word> * kLaneWords<Word> + at] =
          is_there ? in[start + words_before(present, place.lane, at)] : Word{0};
    }
  }
  __syncthreads();
  // The payload has been read: its memory takes the values.
  Word* const values = in + place.unit * kUnitSlots;
  Word before = 0;
#pragma unroll
  for (int batch = 0; batch < kBatches; ++batch) {
    add_up(words[batch], place.lane, before);
    transpose(words[batch], place.lane);
#pragma unroll
    for (int at = 0; at < kBatchWords<Word>; ++at) {
      values[slot(32 * (batch * kBatchWords<Word> + at) + static_cast<int>(place.lane))] =
          words[batch][at];
    }
  }
  __syncwarp();
  undo_differences(values, place.unit_values, static_cast<int>(parameter), place.lane);
  __syncwarp();
  std::byte* const unit = target.at + place.unit * kUnitValues * sizeof(Word);
  if (reinterpret_cast<std::uintptr_t>(unit) % sizeof(Word) == 0) {
    for (int at = static_cast<int>(place.lane); at < place.unit_values; at += 32) {
      sink.put_aligned(unit + at * sizeof(Word), values[slot(at)]);
    }
  } else {
    for (int at = static_cast<int>(place.lane); at < place.unit_values; at += 32) {
      sink.put(unit + at * sizeof(Word), values[slot(at)]);
    }
  }
  return true;
}

// Each value plus the one `stride` before it, along the whole unit. There are `stride` chains of
// such values; as many lanes as possible share a chain, each with a stretch of it.
template <Dtype kType>
__device__ void ChunkCoder<kType>::undo_differences(Word* values, int count, int stride,
                                                    unsigned lane) {
  const int sharers = 32 / stride;
  const int chain = static_cast<int>(lane) % stride;
  const int share = static_cast<int>(lane) / stride;
  const int links = (kUnitValues + stride - 1) / stride;  // of the longest chain
  const int length = (links + sharers - 1) / sharers;     // of a stretch
  const int begin = chain + share * length * stride;
  const int past = begin + length * stride;
  const int end = share >= sharers ? begin : past < count ? past : count;
  Word sum = 0;
#pragma unroll 8
  for (int at = begin; at < end; at += stride) sum += values[slot(at)];
  const Word own = sum;
  for (int offset = stride; offset < 32; offset *= 2) {
    const Word left = __shfl_up_sync(kAllLanes, sum, offset);
    if (static_cast<int>(lane) >= offset) sum += left;
  }
  sum -= own;
#pragma unroll 8
  for (int at = begin; at < end; at += stride) {
    sum += values[slot(at)];
    values[slot(at)] = sum;
  }
}

}  // namespace thinwire::codec::mpc
