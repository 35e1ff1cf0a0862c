// A codec's work on a GPU, as far as coder, array and options say it.
#pragma once

#include "codec/job.h"
#include "message/host.h"

namespace thinwire::message {

// Without the memory that it runs in (frame, workspace, outcome), its stream and its limit.
inline codec::EncodeJob make_encode_job(const Coder& coder, const codec::Chunk& array,
                                        const std::byte* source, const EncodeOptions& options) {
  return {
      .source = source,
      .layout = codec::make_layout(*coder.codec, coder.parameter, array),
      .parameter = coder.parameter,
      .header = frame::unsealed(make_header(coder, array, options.chunk_checksums), options.mark),
      .checksums = options.chunk_checksums,
      .frame = nullptr,
      .limit = 0,
      .workspace = nullptr,
      .outcome = nullptr,
      .stream = nullptr};
}

}  // namespace thinwire::message
