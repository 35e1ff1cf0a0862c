#include "codec/ans/chunk.cuh"
#include "codec/ans/decode.cuh"
#include "codec/ans/encode.cuh"
#include "codec/ans/v0_chunk.cuh"
#include "codec/cuda/variable_launch.cuh"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using ans::PieceCoder;

bool is_in_pieces(std::uint64_t parameter) { return (parameter & ans::kInPieces) != 0; }

Status encode(const EncodeJob& job) {
  if (!is_in_pieces(job.parameter)) {
    return {StatusCode::kInvalidArgument, "ans: version 0 of its format is decoded alone"};
  }
  return with_any_float_dtype(job.layout.array.dtype, [&](auto dtype) {
    return cuda::launch_variable_encode<PieceCoder<dtype.value>>(job);
  });
}

Status decode(const DecodeJob& job) {
  return with_any_float_dtype(job.layout.array.dtype, [&](auto dtype) {
    if (is_in_pieces(job.parameter)) {
      return cuda::launch_variable_decode<PieceCoder<dtype.value>>(job);
    }
    return cuda::launch_variable_decode<ans::v0::ChunkCoder<dtype.value>>(job);
  });
}

}  // namespace

const DeviceCodec kAnsDevice = {.workspace_bytes = cuda::variable_workspace_bytes,
                                .encode = encode,
                                .decode = decode,
                                .seals = true,
                                .takes_blocks = true};

}  // namespace thinwire::codec
