// Frames of arrays in GPU memory under "fill=", in stream order: kernels before and after those of
// the codec, which sees an array without holes, and a frame without masks. Nothing is waited for.
#pragma once

#include <optional>

#include "codec/accumulate.h"
#include "message/message.h"

namespace thinwire::message::fills {

// Told to the host before the outcome of an encode: whether values are missing, and their bits.
struct Told {
  std::uint64_t has_fill;
  std::uint64_t fill;

  std::optional<std::uint64_t> value() const {
    return has_fill != 0 ? std::optional(fill) : std::nullopt;
  }
};

// Memory that is lent until the work has run.
struct Room {
  std::byte* workspace;  // the codec's own
  std::byte* scratch;    // scratch_bytes() of GPU memory, at a multiple of 16, in any state
  device::Outcome* outcome;
  Told* told = nullptr;  // pinned; nullptr if nobody asks
  // So many bytes of the workspace are zeroed first: they are not as the codec's kernels left them.
  std::uint64_t unknown_bytes = 0;
};

// For either direction. About twice the array's bytes.
std::uint64_t scratch_bytes(const Coder& coder, const codec::Chunk& array);

// Both for arrays of one value and more. The frame is as the CPU's; kDeclined from `limit` bytes
// on.
Status enqueue_encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                      std::byte* frame, std::uint64_t limit, const EncodeOptions& options,
                      const Room& room);

// Decodes the `length` bytes at `frame`, which must begin with the header that `info` describes,
// but for its body, the fill value, and whether values are missing at all.
Status enqueue_decode(const Info& info, ByteView frame, std::byte* destination,
                      const codec::Accumulate& accumulate, device::StreamHandle stream,
                      const Room& room);

}  // namespace thinwire::message::fills
