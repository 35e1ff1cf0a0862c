// A chunk of version 0 of ans by one thread block, which decodes it: planes are put together by all
// warps, and so is what the steps of states look up, which are one warp's while the others copy;
// spec/codec-ans.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/ans/v0_states.cuh"
#include "codec/ans/v0_words.cuh"
#include "codec/cuda/piece.cuh"

namespace thinwire::codec::ans::v0 {

template <typename Word>
struct ChunkDecodeState {
  alignas(16) std::uint8_t planes[kChunkBytes + 4 * sizeof(Word)];
  PlaneTable tables[sizeof(Word)];
  std::uint32_t kept[kWarps];
  Start starts[sizeof(Word)][kBytes];
  union {
    Slot slots[kScale];
    Word ends[kWarps * 32];
  };
  bool is_sound;
};

// Offsets of a payload's parts.
template <typename Word>
struct Places {
  std::uint32_t stored[sizeof(Word)];
  std::uint32_t states;  // and the end of all parts before them
  bool has_states = false;

  __device__ Places(const PlaneTable* tables, std::uint32_t values, std::uint32_t kept) {
    std::uint32_t at = kHeadBytes;
#pragma unroll
    for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
      at += tables[plane].bytes();
      has_states |= tables[plane].is_mixed;
    }
    at = filled(at);
#pragma unroll
    for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
      stored[plane] = at;
      at += tables[plane].is_coded ? 0 : filled(plane == 0 ? values : kept);
    }
    states = at;
  }
};

// The warp that has the states: another one in each of the thread blocks that share a
// multiprocessor, whose schedulers have the warps of a number each.
__device__ inline std::uint32_t coder_warp() {
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
  std::uint32_t processors;
  asm("mov.u32 %0, %%nsmid;" : "=r"(processors));
  return blockIdx.x / processors % kWarps;
#else
  return 0;
#endif
}

template <Dtype kType>
struct ChunkCoder {
  static constexpr Dtype kDtype = kType;
  using Word = WordOf<kDtype>;
  static constexpr int kThreads = v0::kThreads;
  // One payload leaves room for another thread block, which is worth more to decoding than to have
  // the next payload sooner: most of the time one warp of a block works.
  static constexpr int kDecodeResident = sizeof(Word) == 8 ? 4 : 5;
  static constexpr int kDecodePayloads = 1;
  static constexpr std::uint32_t kPayloadBytes = kChunkBytes;
  static constexpr std::uint32_t kPlanes = sizeof(Word);
  using DecodeState = ChunkDecodeState<Word>;

  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t parameter,
                                DecodeState& state, const Sink& sink);

 private:
  __device__ static void copy_planes(const Places<Word>& places, std::uint32_t values,
                                     std::uint32_t kept, const std::byte* in, DecodeState& state);
  __device__ static bool decode_planes(const Places<Word>& places, std::uint32_t values,
                                       const Head& head, const std::byte* in, DecodeState& state);
  __device__ static bool count_kept(std::uint32_t values, std::uint32_t kept, std::uint32_t& before,
                                    DecodeState& state);
  __device__ static Word join(std::uint32_t values, const Head& head, std::uint32_t tuple,
                              std::uint32_t next, const DecodeState& state, Word* out);
};

}  // namespace thinwire::codec::ans::v0

#include "codec/ans/v0_decode.cuh"
