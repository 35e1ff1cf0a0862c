#include "codec/cuda/variable_launch.cuh"
#include "codec/lorenzo/chunk.cuh"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using lorenzo::ChunkCoder;

// Calls launch with the coder of the job's type.
template <typename Job, typename Launch>
Status with_coder(const Job& job, Launch&& launch) {
  return with_float_dtype(job.layout.array.dtype,
                          [&](auto kDtype) -> Status { return launch(ChunkCoder<kDtype>()); });
}

Status encode(const EncodeJob& job) {
  return with_coder(
      job, [&]<typename Coder>(Coder) { return cuda::launch_variable_encode<Coder>(job); });
}

Status decode(const DecodeJob& job) {
  return with_coder(
      job, [&]<typename Coder>(Coder) { return cuda::launch_variable_decode<Coder>(job); });
}

}  // namespace

const DeviceCodec kLorenzoDevice = {.workspace_bytes = cuda::variable_workspace_bytes,
                                    .encode = encode,
                                    .decode = decode,
                                    .seals = true,
                                    .takes_blocks = true};

}  // namespace thinwire::codec
