// Decoding a format of format.h.
#pragma once

#include "encode.cuh"

namespace roof {

struct DecodeJob {
  const std::uint8_t* frame;
  uint4* values;
  Word* words;
  std::uint32_t* damaged;
  std::uint32_t chunks;
  std::uint32_t launch;
};

// The memory in which raw exponents are put in their places.
enum class Patches { kInShared, kInOutput };

inline constexpr std::uint32_t kRawHere = 256;  // bytes of them that a warp brings to shared memory

template <typename F, Patches kPatches>
constexpr std::size_t decode_shared() {
  const std::size_t rows = kPatches == Patches::kInShared ? F::kRows * kRowBytes : 0;
  return sizeof(uint4) + F::kBlockWarps * (kRawHere + rows);
}

// Returns where the chunk's share of the frame begins, in units of the table.
template <typename F>
__device__ std::uint32_t begin_of(const DecodeJob& job, std::uint32_t* shared,
                                  const Seat<F>& seat) {
  const auto* const table = reinterpret_cast<const std::uint32_t*>(job.frame);
  if constexpr (F::kEnds) return seat.chunk == 0 ? 0 : __ldg(table + seat.chunk - 1);
  std::uint32_t before = 0;
  if (seat.within == 0) {
    const auto size_of = [&](std::uint32_t chunk) { return __ldg(table + chunk); };
    before = sum_known<F::kStep>(job.words, seat.chunk, job.launch, seat.lane, size_of);
  }
  if constexpr (F::kIsAlone) return before;
  if (threadIdx.x == 0) *shared = before;
  __syncthreads();
  return *shared;
}

// A warp's raw exponents: in shared memory, or if they are many, in the frame.
struct RawBytes {
  const std::uint8_t* far;
  const std::uint8_t* here;
  bool is_here;

  __device__ RawBytes(const std::uint8_t* from, std::uint32_t bytes, std::uint8_t* room,
                      unsigned lane)
      : far(from) {
    const std::uint32_t odd = reinterpret_cast<std::uintptr_t>(from) % 4;
    here = room + odd;
    is_here = bytes + odd <= kRawHere;
    if (!is_here) return;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(from - odd);
    for (std::uint32_t at = lane; 4 * at < bytes + odd; at += 32) {
      reinterpret_cast<std::uint32_t*>(room)[at] = __ldcs(words + at);
    }
  }
};

// Puts the exponents that the codes of a lane call raw in their places in `rows`.
template <int kGroups, typename ExponentAt>
__device__ void put_raw(const std::uint32_t (&raw)[kGroups], std::uint32_t next, std::uint8_t* rows,
                        unsigned lane, const ExponentAt& exponent_at) {
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
    for (std::uint32_t left = raw[group]; left != 0; left &= left - 1) {
      const std::uint32_t at = offset_of(__ffs(static_cast<int>(left)) - 1, lane);
      put_exponent(rows + group * kGroupBytes + at, exponent_at(next++));
    }
  }
}

// Puts those that are named in their places.
template <typename F>
__device__ void put_named(const RawBytes& raws, std::uint32_t count, std::uint8_t* rows,
                          unsigned lane) {
  for (std::uint32_t at = lane; at < count; at += 32) {
    const std::uint8_t* const entry = (raws.is_here ? raws.here : raws.far) + 3 * at;
    const std::uint32_t value = (entry[0] | entry[1] << 8) % F::kWarpValues;
    put_exponent(rows + 2 * value, entry[2]);
  }
}

// All that a warp loads at first.
template <typename F>
struct Loaded {
  uint4 planes[F::kGroups][2];
  std::uint32_t codes[F::kGroups][3];
  std::uint32_t bases[F::kGroups];
  std::uint32_t raw_begin = 0, raw_end;

  __device__ Loaded(const std::uint8_t* heads, const std::uint8_t* fixed, const Seat<F>& seat) {
    const auto* const head =
        reinterpret_cast<const std::uint32_t*>(heads + seat.within * F::kHeadBytes);
    raw_end = __ldg(head + F::kGroups);
    if (seat.within != 0) raw_begin = __ldg(head - F::kHeadBytes / 4 + F::kGroups);
#pragma unroll
    for (int group = 0; group < F::kGroups; ++group) {
      bases[group] = __ldg(head + group);
      const auto* const words = reinterpret_cast<const std::uint32_t*>(fixed + F::kWarpValues);
#pragma unroll
      for (int at = 0; at < 3; ++at) {
        codes[group][at] = __ldcs(words + (group * 3 + at) * 32 + seat.lane);
      }
#pragma unroll
      for (int at = 0; at < 2; ++at) {
        planes[group][at] =
            __ldcs(reinterpret_cast<const uint4*>(fixed) + (group * 2 + at) * 32 + seat.lane);
      }
    }
  }
};

template <typename F, Patches kPatches>
__global__ void __launch_bounds__(32 * F::kBlockWarps) decode(DecodeJob job) {
  SHARED_WORDS;
  constexpr bool kStages = kPatches == Patches::kInShared;
  const Seat<F> seat;
  auto* const room = reinterpret_cast<std::uint8_t*>(shared_words + 1);
  std::uint8_t* const staged = room + F::kBlockWarps * kRawHere + seat.warp * F::kRows * kRowBytes;
  const std::uint32_t begin =
      begin_of<F>(job, reinterpret_cast<std::uint32_t*>(shared_words), seat);
  const std::uint8_t* const body = job.frame + F::body(job.chunks);
  const std::uint8_t *heads, *fixed, *raw_bytes;
  if constexpr (F::kIsApart) {
    heads = body + std::uint64_t{seat.chunk} * F::kWarps * F::kHeadBytes;
    fixed = job.frame + F::fixed(job.chunks) + std::uint64_t{seat.number} * F::kFixedBytes;
    raw_bytes = job.frame + F::raw(job.chunks) + begin;
  } else {
    heads = body + std::uint64_t{begin} * F::kUnit;
    fixed = heads + F::kChunkHeadBytes + seat.within * F::kFixedBytes;
    raw_bytes = heads + F::kChunkHeadBytes + F::kWarps * F::kFixedBytes;
  }
  const Loaded<F> loaded(heads, fixed, seat);
  const std::uint32_t count = loaded.raw_end - loaded.raw_begin;
  const RawBytes raws(raw_bytes + loaded.raw_begin * F::kRawBytes, count * F::kRawBytes,
                      room + seat.warp * kRawHere, seat.lane);
  uint4* const out = job.values + std::uint64_t{seat.number} * F::kRows * 32;
  std::uint8_t* const patched = kStages ? staged : reinterpret_cast<std::uint8_t*>(out);
  std::uint32_t raw[F::kGroups], own = 0;
#pragma unroll
  for (int group = 0; group < F::kGroups; ++group) {
    raw[group] = raw_of(loaded.codes[group]);
    own += __popc(raw[group]);
    uint4 rows[4];
    decode_group(loaded.planes[group], loaded.codes[group], loaded.bases[group], rows);
#pragma unroll
    for (int row = 0; row < 4; ++row) {
      reinterpret_cast<uint4*>(patched)[(group * 4 + row) * 32 + seat.lane] = rows[row];
    }
  }
  order_memory();
  if constexpr (F::kIsNamed) {
    put_named<F>(raws, count, patched, seat.lane);
  } else {
    const std::uint32_t up_to = sum_up_to_lane(own, seat.lane);
    if (seat.lane == 31 && up_to != count) *job.damaged = 1;
    const auto put = [&](const std::uint8_t* from) {
      put_raw(raw, up_to - own, patched, seat.lane, [&](std::uint32_t at) { return from[at]; });
    };
    raws.is_here ? put(raws.here) : put(raws.far);
  }
  if constexpr (!kStages) return;
  order_memory();
#pragma unroll
  for (int row = 0; row < F::kRows; ++row) {
    __stcs(out + row * 32 + seat.lane,
           reinterpret_cast<const uint4*>(staged)[row * 32 + seat.lane]);
  }
}

}  // namespace roof
