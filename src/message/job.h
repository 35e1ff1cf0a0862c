// A codec's work on a GPU, as far as coder, array and options say it.
#pragma once

#include "codec/job.h"
#include "message/host.h"

namespace thinwire::message {

// Both without the memory that they run in (workspace, outcome) and their stream; an encode without
// its frame and its limit, too.
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

}  // namespace thinwire::message
