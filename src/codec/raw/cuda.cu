#include "codec/cuda/copy.cuh"
#include "codec/cuda/fixed_launch.cuh"
#include "codec/cuda/sink.cuh"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using namespace cuda;

constexpr std::uint32_t kTileBytes = 16 * 1024;

// The bytes of an array lie as its payloads do.
template <typename Sink>
struct RawCoder {
  static constexpr int kThreads = 256;
  static constexpr int kResident = 8;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kSmallScratchBytes = 0;

  std::uint64_t chunk_bytes;
  Sink sink;

  __device__ bool encode(const std::byte* source, const Tile& tile, std::uint64_t* payload,
                         std::byte*) const {
    copy_in(payload, source + tile.chunk * chunk_bytes + tile.offset, tile.bytes);
    return true;
  }

  __device__ void decode(const std::uint64_t* payload, const Tile& tile, std::byte*,
                         std::byte* destination) const {
    using Word = typename Sink::Word;
    std::byte* const out = destination + tile.chunk * chunk_bytes + tile.offset;
    if constexpr (Sink::kAdds) {
      for (std::uint32_t at = threadIdx.x; at < tile.bytes / sizeof(Word); at += kThreads) {
        sink.put(out + at * sizeof(Word), reinterpret_cast<const Word*>(payload)[at]);
      }
    } else {
      copy_out(out, payload, tile.bytes);
    }
  }
};

Result<Tiles> tiles_of(const Layout& layout) {
  if (layout.chunks == 0) return Tiles{};
  const std::uint64_t last = layout.chunk(layout.chunks - 1).raw_bytes();
  const std::uint64_t whole = layout.chunks > 1 ? layout.chunk(0).raw_bytes() : last;
  return plan_tiles(layout.chunks, whole, last, kTileBytes);
}

Status encode(const EncodeJob& job) {
  const auto tiles = tiles_of(job.layout);
  if (!tiles.ok()) return tiles.status();
  return launch_encode(job, *tiles, RawCoder<Sink<Dtype::kBytes, false>>{tiles->chunk_bytes, {}});
}

template <Dtype kDtype>
Status add_up(const DecodeJob& job, const Tiles& tiles) {
  return with_sink<kDtype>(job, [&](const auto& sink) {
    return launch_decode(job, tiles,
                         RawCoder<std::decay_t<decltype(sink)>>{tiles.chunk_bytes, sink});
  });
}

Status decode(const DecodeJob& job) {
  const auto tiles = tiles_of(job.layout);
  if (!tiles.ok()) return tiles.status();
  if (job.accumulate.adds) {
    const Dtype dtype = job.layout.array.dtype;
    if (!is_added(dtype)) {
      return {StatusCode::kUnsupported, "raw: values of this type are not added"};
    }
    return with_float_dtype(dtype, [&](auto kDtype) { return add_up<kDtype>(job, *tiles); });
  }
  return launch_decode(job, *tiles, RawCoder<Sink<Dtype::kBytes, false>>{tiles->chunk_bytes, {}});
}

}  // namespace

const DeviceCodec kRawDevice = {
    .workspace_bytes = cuda::fixed_workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
