// Encoding and decoding where one side or both lie in GPU memory; complete on return.
#pragma once

#include "codec/job.h"
#include "device/place.h"
#include "device/work_stream.h"
#include "message/host.h"
#include "message/message.h"

namespace thinwire::message {

// A codec's work on a GPU, as far as coder, array and options say it. Both are without the memory
// that they run in (workspace, outcome) and their stream; an encode without its frame and its
// limit, too.
inline codec::EncodeJob make_encode_job(const Coder& coder, const codec::Chunk& array,
                                        const std::byte* source, const EncodeOptions& options) {
  return {
      .source = source,
      .layout = coder.layout(array),
      .parameter = coder.parameter,
      .header = frame::unsealed(make_header(coder, array, options.chunk_checksums), options.mark),
      .checksums = options.chunk_checksums,
      .frame = nullptr,
      .limit = 0,
      .declines_integers = declines_integers(coder, array, options),
      .workspace = nullptr,
      .outcome = nullptr,
      .stream = nullptr};
}

// Makes the job that decodes the frame at `frame` that `info` describes; its body size counts for
// nothing.
inline codec::DecodeJob make_decode_job(const Info& info, ByteView frame, std::byte* destination,
                                        const codec::Accumulate& accumulate) {
  return {.frame = frame.data(),
          .length = frame.size(),
          .layout = info.layout(),
          .parameter = info.header.parameter,
          .header = frame::unsealed(info.header, info.mark),
          .checksums = info.header.chunk_checksums,
          .destination = destination,
          .accumulate = accumulate,
          .workspace = nullptr,
          .outcome = nullptr,
          .stream = nullptr};
}

// A frame's coder, of a frame in which nothing is missing.
inline Coder coder_of(const Info& info) {
  return {info.codec, info.header.parameter, info.header.as_line};
}

// One whose work waits for what is on `stream` now. kUnsupported while that is being captured.
Result<device::WorkStream> prepared_work_stream(int device, device::StreamHandle stream);

// Enqueues on the work stream an encode by a codec that has a GPU side, into `frame`, memory of the
// work stream's device; the work stream's outcome says what came of it: kDeclined from a frame of
// `limit` bytes on.
Status start_encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                    std::byte* frame, std::uint64_t limit, const EncodeOptions& options,
                    device::WorkStream& work);

// As encode() and decode(), sizes having been checked. `most` is the frame's bound, `to` where the
// destination lies.
Result<std::uint64_t> encode_from_device(const Coder& coder, const codec::Chunk& array,
                                         const std::byte* source, int device,
                                         MutableByteView destination, const device::Place& to,
                                         std::uint64_t most, const EncodeOptions& options);
Result<std::uint64_t> encode_to_device(const Coder& coder, const codec::Chunk& array,
                                       const std::byte* source, MutableByteView destination,
                                       int device, std::uint64_t most,
                                       const EncodeOptions& options);
Status decode_to_device(const Info& info, const std::byte* source, device::Place source_place,
                        std::byte* destination, int device, const codec::Accumulate& accumulate,
                        device::StreamHandle stream);
Status decode_to_host(const Info& info, const std::byte* source, int source_device,
                      std::byte* destination, const codec::Accumulate& accumulate,
                      device::StreamHandle stream);

// The first bytes of a frame in GPU memory, at most kMaxHeaderBytes, for inspect().
struct FrameStart {
  std::array<std::byte, frame::kMaxHeaderBytes> bytes;
  std::size_t count;
};
Result<FrameStart> read_start(const std::byte* source, std::uint64_t length, int device,
                              device::StreamHandle stream);

}  // namespace thinwire::message
