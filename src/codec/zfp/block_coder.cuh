// Blocks of any rank and dtype on the device: one thread a block.
#pragma once

#include "codec/cuda/fixed_frame.cuh"
#include "codec/integers.h"
#include "codec/zfp/array_access.cuh"
#include "codec/zfp/block.h"
#include "codec/zfp/plane_tables.h"
#include "codec/zfp/tile_plan.h"
#include "codec/zfp/word_stream.h"

namespace thinwire::codec::zfp {

// Planes in shared memory, the same word of all threads that have some side by side.
template <int kCoders>
struct SharedWords {
  std::uint32_t* own;

  __device__ explicit SharedWords(std::byte* scratch)
      : own(reinterpret_cast<std::uint32_t*>(scratch) + threadIdx.x) {}
  __device__ std::uint32_t load(int index) const { return own[index * kCoders]; }
  __device__ void store(int index, std::uint32_t word) { own[index * kCoders] = word; }
};

// Tables in global memory: thread blocks copy those that they look up into their shared memory,
// where lanes that look up different entries do not wait for each other for long.
__device__ constexpr ExpandTable kDeviceExpand = make_expand_table();
__device__ constexpr SearchTable kDeviceSearch = make_search_table();

// Copies a table to shared memory; complete after the next barrier.
template <int kThreads, typename Table>
__device__ const Table& copy_table(const Table& table, std::byte* shared) {
  constexpr unsigned kParts = sizeof(Table) / 16;
  const auto* const from = reinterpret_cast<const uint4*>(&table);
  auto* const to = reinterpret_cast<uint4*>(shared);
#pragma unroll
  for (unsigned at = 0; at < kParts; at += kThreads) {
    if (at + kThreads <= kParts || at + threadIdx.x < kParts) {
      to[at + threadIdx.x] = __ldg(from + at + threadIdx.x);
    }
  }
  return *reinterpret_cast<const Table*>(shared);
}

template <typename Sink, int kRankOfBlocks>
struct BlockCoder {
  using Scalar = ScalarOf<Sink>;
  static constexpr int kRank = kRankOfBlocks;
  static constexpr int kThreads = 128;
  // Leaves as many registers as the values of a block need.
  static constexpr int kResident = sizeof(Scalar) == 8 ? 2 : kRank == 3 ? 5 : 8;
  static constexpr int kRoundBlocks = kThreads;
  // Threads that code blocks: fewer in code for GPUs whose thread blocks have no room for the
  // planes of fp64 volumes.
  static constexpr int kFewCoders = sizeof(Scalar) == 8 && kRank == 3 ? 32 : kThreads;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  static constexpr int kCoders = kFewCoders;
#else
  static constexpr int kCoders = kThreads;
#endif
  static constexpr std::uint32_t plane_bytes(int coders) {
    return coders * kPlaneWords<Scalar, kRank> * 4;
  }
  static constexpr std::uint32_t kPlaneBytes = plane_bytes(kCoders);
  static constexpr std::uint32_t kTableBytes = sizeof(SearchTable);
  static constexpr std::uint32_t kScratchBytes = kPlaneBytes + kTableBytes;
  static constexpr std::uint32_t kSmallScratchBytes = plane_bytes(kFewCoders) + kTableBytes;
  static_assert(sizeof(ExpandTable) <= kTableBytes);

  TilePlan plan;
  Access access;
  Sink sink;
  unsigned* problems = nullptr;  // of an encode that declines integers: where they are noted

  __device__ bool encode(const std::byte* source, const cuda::Tile& tile, std::uint64_t* payload,
                         std::byte* scratch) const {
    const ExpandTable& table = copy_table<kThreads>(kDeviceExpand, scratch + kPlaneBytes);
    clear(tile, payload);
    __syncthreads();
    const Grid grid = plan.grid(tile);
    const std::byte* const chunk = source + tile.chunk * plan.chunk_values * sizeof(Scalar);
    SharedWords<kCoders> planes(scratch);
    bool taken = true;
    for (std::uint32_t at = first_of_thread(); at < plan.blocks(tile); at += kCoders) {
      const BlockPlace place = TilePlan::place<kRank>(grid, plan.first_block(tile) + at);
      Scalar values[kBlockValues<kRank>];
      load_block<Scalar, kRank>(chunk, grid, place, access, values);
      if (sizeof(Scalar) == 8 && problems != nullptr) look_for_integers(values);
      BlockHead head;
      taken = make_planes<Scalar, kRank>(values, head, planes) && taken;
      auto* const words = reinterpret_cast<std::uint32_t*>(payload);
      if (plan.block_bits % 32 == 0) {
        put<true>(table, head, planes, words, at);
      } else {
        put<false>(table, head, planes, words, at);
      }
    }
    return taken;
  }

  __device__ void decode(const std::uint64_t* payload, const cuda::Tile& tile, std::byte* scratch,
                         std::byte* destination) const {
    const SearchTable& table = copy_table<kThreads>(kDeviceSearch, scratch + kPlaneBytes);
    __syncthreads();
    const Grid grid = plan.grid(tile);
    std::byte* const chunk = destination + tile.chunk * plan.chunk_values * sizeof(Scalar);
    SharedWords<kCoders> planes(scratch);
    for (std::uint32_t at = first_of_thread(); at < plan.blocks(tile); at += kCoders) {
      const BlockPlace place = TilePlan::place<kRank>(grid, plan.first_block(tile) + at);
      WordReader reader(reinterpret_cast<const std::uint32_t*>(payload), tile.bytes / 4,
                        at * plan.block_bits);
      Scalar values[kBlockValues<kRank>];
      decode_block<Scalar, kRank>(table, reader, plan.block_bits, planes, values);
      store_block<Scalar, kRank>(values, grid, place, access, sink, chunk);
    }
  }

 private:
  __device__ void look_for_integers(const Scalar (&values)[kBlockValues<kRank>]) const {
    bool met = false;
#pragma unroll
    for (int i = 0; i < kBlockValues<kRank>; ++i) {
      met |= reads_as_integer(__builtin_bit_cast(BitsOf<Scalar>, values[i]));
    }
    if (met) atomicOr(problems, cuda::kMetIntegers);
  }

  // The thread's first block of a tile, beyond all of them for threads that code none.
  __device__ static std::uint32_t first_of_thread() {
    return kCoders == kThreads || threadIdx.x < kCoders ? threadIdx.x : ~std::uint32_t{0};
  }

  // Clears words that blocks share, and those after the last block.
  __device__ void clear(const cuda::Tile& tile, std::uint64_t* payload) const {
    const std::uint32_t count = tile.bytes / 8;
    if (plan.block_bits % 32 != 0) {
      for (std::uint32_t at = threadIdx.x; at < count; at += kThreads) payload[at] = 0;
    } else if (threadIdx.x == 0) {
      payload[count - 1] = 0;
    }
  }

  template <bool kApart>
  __device__ void put(const ExpandTable& table, const BlockHead& head,
                      const SharedWords<kCoders>& planes, std::uint32_t* words,
                      std::uint32_t at) const {
    WordWriter<kApart> writer(words, at * plan.block_bits, plan.block_bits);
    put_block<Scalar, kRank>(table, head, planes, writer);
    writer.finish();
  }
};

}  // namespace thinwire::codec::zfp
