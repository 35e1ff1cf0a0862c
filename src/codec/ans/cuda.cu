#include "codec/ans/chunk.cuh"
#include "codec/cuda/variable_launch.cuh"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using ans::ChunkCoder;

Status encode(const EncodeJob& job) {
  return with_any_float_dtype(job.layout.array.dtype, [&](auto dtype) {
    return cuda::launch_variable_encode<ChunkCoder<dtype.value>>(job);
  });
}

Status decode(const DecodeJob& job) {
  return with_any_float_dtype(job.layout.array.dtype, [&](auto dtype) {
    return cuda::launch_variable_decode<ChunkCoder<dtype.value>>(job);
  });
}

}  // namespace

const DeviceCodec kAnsDevice = {.workspace_bytes = cuda::variable_workspace_bytes,
                                .encode = encode,
                                .decode = decode,
                                .seals = true,
                                .takes_blocks = true};

}  // namespace thinwire::codec
