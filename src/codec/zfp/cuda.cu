#include <algorithm>
#include <type_traits>

#include "codec/cuda/fixed_launch.cuh"
#include "codec/registry.h"
#include "codec/zfp/block_coder.cuh"
#include "codec/zfp/line_coder.cuh"
#include "codec/zfp/sizes.h"

namespace thinwire::codec {
namespace {

using namespace zfp;

// Tiles that keep the largest GPUs busy; arrays of more get larger ones, which cost less.
constexpr std::uint64_t kManyTiles = 2048;

// How many rounds of blocks a thread block codes, one after the other.
template <typename Coder>
std::uint32_t rounds_for(std::uint64_t blocks, int block_bits) {
  constexpr std::uint64_t kMost = Coder::kRank == 1 ? 8 : Coder::kRank == 2 ? 2 : 1;
  const std::uint64_t wanted = std::min(blocks / (kManyTiles * Coder::kRoundBlocks), kMost);
  // Payloads of tiles are whole words of 64 bits.
  const std::uint64_t least = Coder::kRoundBlocks * block_bits % 64 == 0 ? 1 : 2;
  return static_cast<std::uint32_t>(std::max(wanted, least));
}

// For GPUs with little shared memory; whole words of payload at every rate.
constexpr std::uint32_t kLeastTileBlocks = 64;

// Whether such tiles fit thread blocks that have `limit` bytes, `scratch` of them for other things.
template <typename Coder>
constexpr bool least_tiles_fit(std::uint32_t scratch, std::uint32_t limit) {
  const std::uint32_t most = sizeof(typename Coder::Scalar) << (2 * Coder::kRank);  // of a block
  return kLeastTileBlocks * most + cuda::kPayloadPadding + scratch + device::kStaticSharedBytes <=
         limit;
}

struct Work {
  cuda::Tiles tiles;
  TilePlan plan;
};

template <typename Coder>
Result<Work> plan_work(const Layout& layout, std::uint64_t parameter) {
  static_assert(least_tiles_fit<Coder>(Coder::kScratchBytes, device::kCommonSharedBytes));
  static_assert(least_tiles_fit<Coder>(Coder::kSmallScratchBytes, device::kLeastSharedBytes));
  Work work{};
  if (layout.chunks == 0) return work;
  const Shape& array = layout.array.shape;
  TilePlan& plan = work.plan;
  plan.block_bits = block_bits(parameter, layout.array.dtype, array.rank);
  plan.chunks = layout.chunks;
  plan.whole = make_grid(layout.chunk(0).shape);
  plan.last = make_grid(layout.chunk(layout.chunks - 1).shape);
  plan.chunk_values = layout.chunk(0).shape.count();
  plan.tile_blocks =
      Coder::kRoundBlocks * rounds_for<Coder>(make_grid(array).blocks(), plan.block_bits);
  if (!cuda::has_room_for<Coder>(plan.tile_bytes())) plan.tile_blocks = kLeastTileBlocks;
  const std::uint64_t whole = encoded_bytes(plan.whole.blocks(), plan.block_bits);
  const std::uint64_t last = encoded_bytes(plan.last.blocks(), plan.block_bits);
  const auto tiles = cuda::plan_tiles(layout.chunks, whole, last, plan.tile_bytes());
  if (!tiles.ok()) return tiles.status();
  work.tiles = *tiles;
  return work;
}

template <typename Coder>
Access access_at(const std::byte* base, const Layout& layout) {
  const Shape& shape = layout.array.shape;
  return access_of(base, shape.extent[shape.rank - 1], shape.rank, sizeof(typename Coder::Scalar));
}

bool is_short(const Layout& layout, std::uint64_t parameter) {
  return block_bits(parameter, layout.array.dtype, 1) <= kMaxShortBits;
}

// Calls launch(coder) with the coder of such arrays, for values that go to `sink`.
template <typename Sink, typename Launch>
Status with_coder(const Layout& layout, std::uint64_t parameter, const std::byte* array,
                  const Sink& sink, Launch&& launch) {
  const auto start = [&]<typename Coder>(std::type_identity<Coder>) -> Status {
    const auto work = plan_work<Coder>(layout, parameter);
    if (!work.ok()) return work.status();
    return launch(work->tiles, Coder{work->plan, access_at<Coder>(array, layout), sink});
  };
  switch (layout.array.shape.rank) {
    case 1:
      if constexpr (Sink::kDtype == Dtype::kF32) {
        return is_short(layout, parameter) ? start(std::type_identity<LineCoder<Sink, true>>{})
                                           : start(std::type_identity<LineCoder<Sink, false>>{});
      } else {
        return start(std::type_identity<BlockCoder<Sink, 1>>{});
      }
    case 2:
      return start(std::type_identity<BlockCoder<Sink, 2>>{});
    default:
      return start(std::type_identity<BlockCoder<Sink, 3>>{});
  }
}

template <Dtype kDtype>
Status encode_as(const EncodeJob& job) {
  return with_coder(job.layout, job.parameter, job.source, cuda::Sink<kDtype, false>{},
                    [&](const auto& tiles, auto coder) {
                      if constexpr (kDtype == Dtype::kF64) {
                        if (job.declines_integers)
                          coder.problems = cuda::problems_of(job.workspace);
                      }
                      return cuda::launch_encode(job, tiles, coder);
                    });
}

template <Dtype kDtype>
Status decode_as(const DecodeJob& job) {
  return cuda::with_sink<kDtype>(job, [&](const auto& sink) {
    return with_coder(job.layout, job.parameter, job.destination, sink,
                      [&](const auto& tiles, const auto& coder) {
                        return cuda::launch_decode(job, tiles, coder);
                      });
  });
}

Status encode(const EncodeJob& job) {
  return job.layout.array.dtype == Dtype::kF64 ? encode_as<Dtype::kF64>(job)
                                               : encode_as<Dtype::kF32>(job);
}

Status decode(const DecodeJob& job) {
  return job.layout.array.dtype == Dtype::kF64 ? decode_as<Dtype::kF64>(job)
                                               : decode_as<Dtype::kF32>(job);
}

}  // namespace

const DeviceCodec kZfpDevice = {
    .workspace_bytes = cuda::fixed_workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
