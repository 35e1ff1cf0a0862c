#include <algorithm>

#include "codec/cuda/launch.h"
#include "codec/cuda/variable_frame.cuh"
#include "codec/mpc/mpc.h"
#include "codec/mpc/unit.cuh"

namespace thinwire::codec {
namespace {

using namespace cuda;
using mpc::ChunkCoder;

// Enough to fill the largest GPUs several times over; each then has a run of chunks.
constexpr std::uint64_t kMostDecodeBlocks = 2048;

std::uint64_t workspace_bytes(const Layout& layout, std::uint64_t) {
  return variable_workspace_bytes(layout);
}

template <typename Word>
Status encode_words(const EncodeJob& job) {
  using Coder = ChunkCoder<Word>;
  const std::uint64_t blocks = std::max<std::uint64_t>(1, job.layout.chunks);
  if (blocks > INT32_MAX) return {StatusCode::kUnsupported, "mpc: the array has too many chunks"};
  encode_variable<Coder><<<static_cast<unsigned>(blocks), Coder::kThreads,
                           sizeof(VariableShared<Coder>), job.stream>>>(job);
  return launch_status(cudaGetLastError());
}

template <typename Word>
Status decode_words(const DecodeJob& job) {
  using Coder = ChunkCoder<Word>;
  // And one that looks at the frame as a whole.
  const auto blocks = std::min(job.layout.chunks, kMostDecodeBlocks) + 1;
  decode_variable<Coder><<<static_cast<unsigned>(blocks), Coder::kThreads,
                           sizeof(VariableShared<Coder>), job.stream>>>(job);
  return launch_status(cudaGetLastError());
}

Status encode(const EncodeJob& job) {
  return job.layout.array.dtype == Dtype::kF32 ? encode_words<std::uint32_t>(job)
                                               : encode_words<std::uint64_t>(job);
}

Status decode(const DecodeJob& job) {
  return job.layout.array.dtype == Dtype::kF32 ? decode_words<std::uint32_t>(job)
                                               : decode_words<std::uint64_t>(job);
}

}  // namespace

const DeviceCodec kMpcDevice = {
    .workspace_bytes = workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
