#include "codec/cuda/variable_launch.cuh"
#include "codec/lorenzo/chunk.cuh"
#include "codec/lorenzo/lorenzo.h"

namespace thinwire::codec {
namespace {

using lorenzo::ChunkCoder;

std::uint64_t workspace_bytes(const Layout& layout, std::uint64_t) {
  return cuda::variable_workspace_bytes(layout);
}

// Calls launch with the coder of the job's type.
template <typename Job, typename Launch>
Status with_coder(const Job& job, Launch&& launch) {
  switch (job.layout.array.dtype) {
    case Dtype::kF32:
      return launch(ChunkCoder<Dtype::kF32>());
    case Dtype::kF64:
      return launch(ChunkCoder<Dtype::kF64>());
    case Dtype::kF16:
      return launch(ChunkCoder<Dtype::kF16>());
    default:
      return launch(ChunkCoder<Dtype::kBf16>());
  }
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

const DeviceCodec kLorenzoDevice = {
    .workspace_bytes = workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
