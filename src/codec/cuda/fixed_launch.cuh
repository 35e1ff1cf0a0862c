// Launching the kernels of fixed_frame.cuh.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "codec/cuda/fixed_frame.cuh"
#include "codec/cuda/launch.h"

namespace thinwire::codec::cuda {

// Dynamic shared memory that every kernel may have without asking; the rest of 48 KiB is left to
// its static shared memory.
inline constexpr std::uint32_t kFreeSharedBytes = 47 * 1024;
inline constexpr std::uint32_t kMostSharedBytes = 160 * 1024;  // no tile needs more

// Bytes that a thread block takes besides its tile, on the current device.
template <typename Coder>
std::uint32_t scratch_bytes() {
  if constexpr (Coder::kSmallScratchBytes < Coder::kScratchBytes) {
    if (device::has_small_blocks()) return Coder::kSmallScratchBytes;
  }
  return Coder::kScratchBytes;
}

// Whether the current device's thread blocks have room for a tile of so many bytes.
template <typename Coder>
bool has_room_for(std::uint32_t tile_bytes) {
  const std::uint32_t all = tile_bytes + kPayloadPadding + device::kStaticSharedBytes;
  return all + Coder::kScratchBytes <= device::kLeastSharedBytes ||
         all + scratch_bytes<Coder>() <= device::shared_limit();
}

// As make_tiles(); kUnsupported if the chunk table cannot say a payload's size, or a grid cannot
// have as many tiles (arrays of terabytes).
inline Result<Tiles> plan_tiles(std::uint64_t chunks, std::uint64_t chunk_bytes,
                                std::uint64_t last_bytes, std::uint32_t tile_bytes) {
  if (chunk_bytes > INT32_MAX || chunks > INT32_MAX) {
    return {StatusCode::kUnsupported, "the array has too many chunks, or too large ones"};
  }
  const Tiles tiles = make_tiles(chunks, static_cast<std::uint32_t>(chunk_bytes),
                                 static_cast<std::uint32_t>(last_bytes), tile_bytes);
  if (tiles.count() <= INT32_MAX) return tiles;
  return {StatusCode::kUnsupported, "the array is too large for one launch"};
}

template <typename Coder, typename Kernel>
Status prepare_shared(Kernel* kernel, std::uint32_t bytes, std::atomic<std::uint64_t>& allowed) {
  if constexpr (Coder::kSmallScratchBytes < Coder::kScratchBytes) {
    if (device::has_small_blocks()) {
      Status status = require_small_code(kernel);
      if (!status.ok()) return status;
    }
  }
  if (bytes <= kFreeSharedBytes) return {};
  const std::uint32_t most = device::shared_limit() - device::kStaticSharedBytes;
  if (bytes > most) return {StatusCode::kUnsupported, "this GPU has too little shared memory"};
  return allow_shared(kernel, std::min(most, kMostSharedBytes), allowed);
}

// Enqueues the encode of `tiles`; both return after that is done.
template <typename Coder>
Status launch_encode(const EncodeJob& job, const Tiles& tiles, const Coder& coder) {
  const std::uint64_t body = job.layout.table_bytes() + tiles.payload_bytes();
  if (tiles.count() == 0 || job.header.bytes() + body >= job.limit) {
    return launch(encode_nothing, {1, 1}, job.stream, job, body);
  }
  static std::atomic<std::uint64_t> allowed;
  const std::uint32_t shared = padded_tile_bytes(tiles) + scratch_bytes<Coder>();
  Status status = prepare_shared<Coder>(encode_fixed<Coder>, shared, allowed);
  if (!status.ok()) return status;
  return launch(encode_fixed<Coder>, {tiles.count(), Coder::kThreads, shared}, job.stream, job,
                tiles, coder);
}

template <typename Coder>
Status launch_decode(const DecodeJob& job, const Tiles& tiles, const Coder& coder) {
  const std::uint64_t needed =
      job.header.bytes() + job.layout.table_bytes() + tiles.payload_bytes();
  if (tiles.count() == 0 || job.length < needed) {
    return launch(decode_nothing, {1, 1}, job.stream, job, tiles.payload_bytes());
  }
  static std::atomic<std::uint64_t> allowed;
  const std::uint32_t shared = padded_tile_bytes(tiles) + scratch_bytes<Coder>();
  Status status = prepare_shared<Coder>(decode_fixed<Coder>, shared, allowed);
  if (!status.ok()) return status;
  return launch(decode_fixed<Coder>, {tiles.count(), Coder::kThreads, shared}, job.stream, job,
                tiles, coder);
}

}  // namespace thinwire::codec::cuda
