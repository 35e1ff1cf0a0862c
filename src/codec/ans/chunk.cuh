// A chunk of ans by one thread block: its planes are made and put together by all warps, its
// tables by a warp each, its states by one warp while the others copy; spec/codec-ans.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/ans/planes.cuh"
#include "codec/ans/states.cuh"
#include "codec/cuda/piece.cuh"

namespace thinwire::codec::ans {

template <typename Word>
struct ChunkState {
  static constexpr std::uint32_t kPlanes = sizeof(Word);

  alignas(16) std::uint8_t planes[kChunkBytes + 4 * kPlanes];
  std::uint32_t counts[kPlanes][kBytes];  // then shares
  union {
    Step steps[kBytes];
    std::uint8_t slots[kScale];
    Word ends[kWarps * 32];
  };
  PlaneTable tables[kPlanes];
  Zeros zeros[kWarps];
  std::uint32_t end;  // of the payload
  bool is_sound;
};

// Where the parts of a payload lie.
template <typename Word>
struct Places {
  std::uint32_t table[sizeof(Word)], stored[sizeof(Word)];
  std::uint32_t tables_end;
  std::uint32_t states;  // and the end of what comes before them
  bool has_states = false;

  __device__ Places(const PlaneTable* tables, std::uint32_t values, std::uint32_t kept) {
    std::uint32_t at = kHeadBytes;
#pragma unroll
    for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
      table[plane] = at;
      at += tables[plane].bytes();
      has_states |= tables[plane].is_mixed;
    }
    tables_end = at;
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
  std::uint32_t processors;
  asm("mov.u32 %0, %%nsmid;" : "=r"(processors));
  return blockIdx.x / processors % kWarps;
}

template <Dtype kType>
struct ChunkCoder {
  static constexpr Dtype kDtype = kType;
  using Word = WordOf<kDtype>;
  static constexpr int kThreads = ans::kThreads;
  static constexpr int kResident = sizeof(Word) == 8 ? 3 : 4;
  static constexpr std::uint32_t kPayloadBytes = kChunkBytes;
  static constexpr std::uint32_t kPlanes = sizeof(Word);
  using State = ChunkState<Word>;

  __device__ static std::uint32_t encode(const cuda::Piece& piece, std::uint64_t* payload,
                                         std::uint64_t parameter, State& state);
  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t parameter, State& state,
                                const Sink& sink);

 private:
  __device__ static Head make_planes(const Word* values, std::uint32_t count, std::uint32_t tuple,
                                     State& state);
  __device__ static void write_front(const Places<Word>& places, std::uint32_t values,
                                     std::uint32_t kept, std::byte* out, const State& state);
  __device__ static void encode_states(const Places<Word>& places, std::uint32_t values, Head head,
                                       std::uint32_t raw, std::byte* out, State& state);

  __device__ static bool read_tables(const std::byte* in, std::uint32_t bytes, const Head& head,
                                     State& state);
  __device__ static bool decode_states(const Places<Word>& places, std::uint32_t values,
                                       const Head& head, const std::byte* in, State& state);
  __device__ static bool join(const Places<Word>& places, std::uint32_t values, const Head& head,
                              const std::byte* in, Word (&words)[Run<Word>::kRows], State& state);
};

}  // namespace thinwire::codec::ans

#include "codec/ans/decode.cuh"
#include "codec/ans/encode.cuh"
