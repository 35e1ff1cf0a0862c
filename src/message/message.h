// One compressed message: codec and frame meet here and nowhere else. Memory to memory, host or
// GPU.
#pragma once

#include "base/bytes.h"
#include "base/status.h"
#include "codec/accumulate.h"
#include "codec/codec.h"
#include "codec/fill.h"
#include "codec/layout.h"
#include "device/place.h"
#include "device/stream.h"
#include "frame/header.h"
#include "message/integers.h"

namespace thinwire::message {

struct EncodeOptions {
  frame::Mark mark = frame::file_mark();
  bool decline = false;  // fail with kDeclined if the frame would otherwise be raw
  bool chunk_checksums = true;
  // Whether lossy codecs decline fp64 values that read as integers (codec/integers.h).
  bool declines_integers = declines_integers_by_setting();
  // Whether those without a bound decline arrays in which fill values would destroy the others.
  bool declines_fill_values = declines_fill_values_by_setting();
  device::StreamHandle stream = nullptr;  // GPU work runs after what is on it now
};

// A codec with its parameter word, as a spec names it.
struct Coder {
  const codec::Codec* codec;
  std::uint64_t parameter;
  bool as_line = false;   // it takes arrays of any shape as one line; not of flat codecs
  codec::Fill fill = {};  // which values are missing, of lossy codecs

  codec::Layout layout(const codec::Chunk& array) const {
    return codec::make_layout(*codec, parameter, array, as_line);
  }
};

// A validated frame: its header and the codec it names.
struct Info {
  frame::Header header;
  const codec::Codec* codec;
  frame::Mark mark;

  codec::Layout layout() const {
    return codec::make_layout(*codec, header.parameter, {header.dtype, header.shape},
                              header.as_line);
  }
};

// Most bytes that a frame of this array can take; kUnsupported if the codec does not take it.
Result<std::uint64_t> bound(const Coder& coder, const codec::Chunk& array);

// Bytes of every frame of this array that is not declined, from codec, array and parameter alone;
// kUnsupported if they depend on the data.
Result<std::uint64_t> fixed_bytes(const Coder& coder, const codec::Chunk& array);

// Encodes the array at `source` into one frame; returns its length. What the codec declines, or
// what would not shrink, becomes a frame of codec raw, or kDeclined, or kHoldsIntegers. kTooSmall
// below bound(). The codec runs where the array lies; complete on return.
Result<std::uint64_t> encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                             MutableByteView destination, const EncodeOptions& options);

// Reads and validates the header, finds the codec, checks its parameter and that the body is long
// enough for the chunk table and, if payloads have a fixed size, for them.
Result<Info> inspect(ByteView source, const frame::Mark& mark);

// Decodes a whole frame; kTooSmall if `destination` is below the raw size. The codec runs where
// the array is to lie; complete on return. GPU work runs after what is on `stream` now. If
// values are added rather than stored, an array of bytes is kUnsupported.
Result<Info> decode(ByteView source, MutableByteView destination, const frame::Mark& mark,
                    device::StreamHandle stream = nullptr,
                    const codec::Accumulate& accumulate = {});

}  // namespace thinwire::message
