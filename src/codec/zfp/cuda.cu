#include <algorithm>

#include "codec/cuda/fixed_launch.cuh"
#include "codec/zfp/block_coder.cuh"
#include "codec/zfp/line_coder.cuh"
#include "codec/zfp/sizes.h"
#include "codec/zfp/zfp.h"

namespace thinwire::codec {
namespace {

using namespace zfp;

// Tiles that keep the largest GPUs busy; arrays of more get larger ones, which cost less.
constexpr std::uint64_t kManyTiles = 2048;

std::uint64_t workspace_bytes(const Layout& layout, std::uint64_t) {
  return cuda::fixed_workspace_bytes(layout);
}

// How many blocks a thread codes, one after the other.
template <typename Coder>
std::uint32_t rounds_for(std::uint64_t blocks, int block_bits) {
  constexpr std::uint64_t kMost = Coder::kRank == 1 ? ZFP_LINE_ROUNDS : Coder::kRank == 2 ? 2 : 1;
  const std::uint64_t wanted = std::min(blocks / (kManyTiles * Coder::kThreads), kMost);
  // Payloads of tiles are whole words of 64 bits.
  const std::uint64_t least = Coder::kThreads * block_bits % 64 == 0 ? 1 : 2;
  return static_cast<std::uint32_t>(std::max(wanted, least));
}

struct Work {
  cuda::Tiles tiles;
  TilePlan plan;
};

template <typename Coder>
Result<Work> plan_work(const Layout& layout, std::uint64_t parameter) {
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
      Coder::kThreads * rounds_for<Coder>(make_grid(array).blocks(), plan.block_bits);
  const std::uint64_t whole = encoded_bytes(plan.whole.blocks(), plan.block_bits);
  const std::uint64_t last = encoded_bytes(plan.last.blocks(), plan.block_bits);
  const auto tiles =
      cuda::plan_tiles(layout.chunks, whole, last,
                       plan.tile_blocks * static_cast<std::uint32_t>(plan.block_bits) / 8);
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

template <typename Coder>
Status encode_with(const EncodeJob& job) {
  const auto work = plan_work<Coder>(job.layout, job.parameter);
  if (!work.ok()) return work.status();
  return cuda::launch_encode(job, work->tiles,
                             Coder{work->plan, access_at<Coder>(job.source, job.layout)});
}

template <typename Coder>
Status decode_with(const DecodeJob& job) {
  const auto work = plan_work<Coder>(job.layout, job.parameter);
  if (!work.ok()) return work.status();
  return cuda::launch_decode(job, work->tiles,
                             Coder{work->plan, access_at<Coder>(job.destination, job.layout)});
}

Status encode(const EncodeJob& job) {
  const Layout& layout = job.layout;
  const bool is_double = layout.array.dtype == Dtype::kF64;
  switch (layout.array.shape.rank) {
    case 1:
      if (is_double) return encode_with<BlockCoder<double, 1>>(job);
      return is_short(layout, job.parameter) ? encode_with<LineCoder<true>>(job)
                                             : encode_with<LineCoder<false>>(job);
    case 2:
      return is_double ? encode_with<BlockCoder<double, 2>>(job)
                       : encode_with<BlockCoder<float, 2>>(job);
    default:
      return is_double ? encode_with<BlockCoder<double, 3>>(job)
                       : encode_with<BlockCoder<float, 3>>(job);
  }
}

Status decode(const DecodeJob& job) {
  if (job.landing.adds) return {StatusCode::kUnsupported, "zfp: values are not added yet"};
  const Layout& layout = job.layout;
  const bool is_double = layout.array.dtype == Dtype::kF64;
  switch (layout.array.shape.rank) {
    case 1:
      if (is_double) return decode_with<BlockCoder<double, 1>>(job);
      return is_short(layout, job.parameter) ? decode_with<LineCoder<true>>(job)
                                             : decode_with<LineCoder<false>>(job);
    case 2:
      return is_double ? decode_with<BlockCoder<double, 2>>(job)
                       : decode_with<BlockCoder<float, 2>>(job);
    default:
      return is_double ? decode_with<BlockCoder<double, 3>>(job)
                       : decode_with<BlockCoder<float, 3>>(job);
  }
}

}  // namespace

const DeviceCodec kZfpDevice = {
    .workspace_bytes = workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
