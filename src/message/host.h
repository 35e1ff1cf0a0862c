// Encoding and decoding with everything in host memory; and what the GPU's side shares with it.
#pragma once

#include "base/bytes.h"
#include "codec/layout.h"
#include "message/message.h"

namespace thinwire::message {

Coder raw_coder();

frame::Header make_header(const Coder& coder, const codec::Chunk& array, bool chunk_checksums);

// kTooSmall if a destination of `capacity` bytes may not hold a frame of up to `most`.
Status check_capacity(std::uint64_t most, std::uint64_t capacity);

// Whether an encode looks for integers in the bits of fp64, and is declined if it finds one.
inline bool declines_integers(const Coder& coder, const codec::Chunk& array,
                              const EncodeOptions& options) {
  return options.declines_integers && !coder.codec->lossless && array.dtype == Dtype::kF64;
}

// Counts an array that is declined for them, and says so.
Status holds_integers(const Coder& coder);

// Whether no data of this shape could shrink.
bool is_hopeless(const Coder& coder, const codec::Chunk& array);

// kUnsupported, and why, if the codec cannot run here: something is missing on this machine, or
// the array lies in host memory and the codec knows GPUs alone.
Status check_usable(const codec::Codec& codec, bool on_device);

// As encode() and decode(), sizes having been checked.
Result<std::uint64_t> encode_on_host(const Coder& coder, const codec::Chunk& array,
                                     const std::byte* source, MutableByteView destination,
                                     const EncodeOptions& options);
Status decode_on_host(const Info& info, ByteView source, const codec::Accumulate& accumulate,
                      std::byte* destination);

// The codec that a header names, and whether it is one that this build decodes.
Result<Info> find_coder(const Result<frame::Header>& header, const frame::Mark& mark);

// One row of the chunk table.
struct TableRow {
  std::uint32_t word;
  std::uint32_t sum;

  bool raw() const { return (word & codec::kRawChunk) != 0; }
  std::uint64_t bytes() const { return word & ~codec::kRawChunk; }
};
inline TableRow read_row(const std::byte* at) {
  return {load<std::uint32_t>(at), load<std::uint32_t>(at + 4)};
}

Status damaged(std::uint64_t chunk, const char* what);

// Whether the size of a payload depends on its chunk's shape alone.
inline bool has_fixed_payloads(const Info& info) {
  return info.codec->fixed_size && !info.header.has_fill;
}

// Most bytes that a payload of such a chunk has: what the codec says if it is fixed, the chunk's
// own bytes otherwise, as encoders store raw what would not be shorter.
std::uint64_t most_payload_bytes(const Info& info, const codec::Chunk& chunk);

// kDamaged if the table says that the payload is longer than that, or no raw chunk's.
Status check_length(const Info& info, const codec::Chunk& chunk, std::uint64_t index,
                    const TableRow& row);

// Checks and decodes one chunk to `values`, where they lie one after the other.
Status decode_chunk(const Info& info, const codec::Layout& layout, std::uint64_t index,
                    const TableRow& row, ByteView encoded, std::byte* values);

}  // namespace thinwire::message
