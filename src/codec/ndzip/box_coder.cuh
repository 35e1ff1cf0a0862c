// A box of ndzip by one thread block; spec/codec-ndzip.md.
#pragma once

#include "codec/ndzip/planes.cuh"

namespace thinwire::codec::ndzip {

// kAxes: of the array, those longer than one value.
template <Dtype kType, int kAxes>
struct BoxCoder {
  static constexpr Dtype kDtype = kType;
  using Word = WordOf<kDtype>;
  using Stage = Staging<Word>;
  static constexpr int kThreads = Stage::kThreads;
  // As many as leave enough registers for a square's words and those that come to them.
  static constexpr int kResident = sizeof(Word) == 4 ? 5 : 3;
  static constexpr bool kBringsTargetNear = kAxes > 1 && sizeof(Word) == 4;
  static constexpr std::uint32_t kPayloadBytes = Stage::kBytes;

  struct State {
    std::uint32_t planes[kThreads / 32];  // of each warp
    Word words[kThreads / 32];
    Cell<Word> columns[kAxes == 2 ? kThreads : 1];
  };

  __device__ static bool is_whole(const Box& box) {
    if (box.count() != kBoxValues) return false;
    return kAxes == 1 || (kAxes == 2 ? box.x == 64 && box.y == 64 : box.x == 16 && box.y == 16);
  }

  __device__ static std::uint32_t encode(const cuda::Piece& piece, std::uint64_t* payload,
                                         std::uint64_t, State& state) {
    Part<Word> words;
    load_residuals(piece, Stage(payload), words);
    std::uint32_t planes[32];
    to_rows(words, planes);
    std::uint32_t head = 0;
#pragma unroll
    for (int at = 0; at < 32; ++at) head |= planes[at];
    if constexpr (sizeof(Word) == 8) head |= __shfl_xor_sync(kAllLanes, head, 2);
    transpose_from(planes, Square<Word>().is_high);

    // This has a barrier, after which all words have been read: their memory takes the payload.
    const Places<Word> places(head, state.planes);
    const std::uint32_t groups = groups_of<Word>(piece.values);
    auto* const out = reinterpret_cast<std::uint32_t*>(payload);
    put_planes<Word>(out, groups, head, places.first, planes);
    const std::uint32_t all = groups + places.total;
    if (sizeof(Word) == 4 && threadIdx.x == 0 && all % 2 != 0) out[all] = 0;
    __syncthreads();
    return payload_bytes<Word>(all);
  }

  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t, State& state,
                                const Sink& sink) {
    const auto* const in = reinterpret_cast<const std::uint32_t*>(payload);
    const std::uint32_t groups = groups_of<Word>(target.values);
    if (bytes < groups * sizeof(Word)) return false;
    const Square<Word> square;
    const std::uint32_t head =
        square.group < groups ? in[square.group * square.kStride + square.is_high] : 0;
    const Places<Word> places(head, state.planes);
    if (bytes != ndzip::payload_bytes<Word>(groups + places.total)) return false;
    std::uint32_t planes[32];
    get_planes<Word>(in, groups, head, places.first, planes);
    transpose_to(planes, square.is_high);
    Part<Word> words;
    from_rows(planes, words);
#pragma unroll
    for (int at = 0; at < Stage::kThreadWords; ++at) words[at] = flip(words[at]);
    // All planes have been read: their memory takes the values.
    __syncthreads();
    store_values(target, Stage(payload), words, state, sink);
    return true;
  }

 private:
  __device__ static void load_residuals(const cuda::Piece& piece, const Stage& staging,
                                        Part<Word>& words) {
    if (is_whole(piece.box)) {
      staging.clear_zeros();
      load_whole<Word, kAxes>(staging, piece);
      __syncthreads();
      residuals<Word, kAxes>(staging, words);
    } else {
      load_clipped(staging, piece);
      __syncthreads();
      subtract_clipped(staging, piece.box);
      load_words(staging.part(threadIdx.x), words);
    }
#pragma unroll
    for (int at = 0; at < Stage::kThreadWords; ++at) words[at] = flip(words[at]);
  }

  template <typename Sink>
  __device__ static void store_values(const cuda::Target& target, const Stage& staging,
                                      Part<Word>& words, State& state, const Sink& sink) {
    if (kAxes > 1 && !is_whole(target.box)) {
      store_words(staging.part(threadIdx.x), words);
      __syncthreads();
      add_clipped(staging, target.box);
      store_clipped(staging, target, sink);
      return;
    }
    add_along_x<Word, kAxes>(words, state.words);
    if constexpr (kAxes == 1) finish_1d(staging, target, words, sink);
    if constexpr (kAxes == 2) finish_2d(staging, target, words, state.columns, sink);
    if constexpr (kAxes == 3) finish_3d(staging, target, words, sink);
  }
};

}  // namespace thinwire::codec::ndzip
