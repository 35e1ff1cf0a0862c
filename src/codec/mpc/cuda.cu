#include "codec/cuda/variable_launch.cuh"
#include "codec/mpc/chunk.cuh"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using mpc::ChunkCoder;

Status encode(const EncodeJob& job) {
  return job.layout.array.dtype == Dtype::kF32
             ? cuda::launch_variable_encode<ChunkCoder<Dtype::kF32>>(job)
             : cuda::launch_variable_encode<ChunkCoder<Dtype::kF64>>(job);
}

Status decode(const DecodeJob& job) {
  return job.layout.array.dtype == Dtype::kF32
             ? cuda::launch_variable_decode<ChunkCoder<Dtype::kF32>>(job)
             : cuda::launch_variable_decode<ChunkCoder<Dtype::kF64>>(job);
}

}  // namespace

const DeviceCodec kMpcDevice = {.workspace_bytes = cuda::variable_workspace_bytes,
                                .encode = encode,
                                .decode = decode,
                                .seals = true,
                                .takes_blocks = true};

}  // namespace thinwire::codec
