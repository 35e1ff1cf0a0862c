#include "codec/cuda/variable_launch.cuh"
#include "codec/registry.h"
#include "codec/szp/decode.cuh"
#include "codec/szp/encode.cuh"
#include "codec/szp/range.cuh"

namespace thinwire::codec {
namespace {

using namespace szp;

std::uint64_t workspace_bytes(const Layout& layout, std::uint64_t parameter) {
  return cuda::variable_workspace_bytes(layout, parameter) + sizeof(RangeState);
}

template <Dtype kType>
Status encode_values(const EncodeJob& job) {
  const bool open = is_open(job.parameter);
  if (open) {
    const Status status = launch_range<ValueOf<kType>>(job);
    if (!status.ok()) return status;
  }
  switch (job.layout.array.shape.rank) {
    case 1:
      return cuda::launch_variable_encode<BoxEncoder<kType, 1>>(job, open);
    case 2:
      return cuda::launch_variable_encode<BoxEncoder<kType, 2>>(job, open);
    default:
      return cuda::launch_variable_encode<BoxEncoder<kType, 3>>(job, open);
  }
}

template <Dtype kType>
Status decode_values(const DecodeJob& job) {
  const bool open = is_open(job.parameter);
  return cuda::with_sink<kType>(job, [&](const auto& sink) {
    switch (job.layout.array.shape.rank) {
      case 1:
        return cuda::launch_variable_decode<BoxDecoder<kType, 1>>(job, sink, open);
      case 2:
        return cuda::launch_variable_decode<BoxDecoder<kType, 2>>(job, sink, open);
      default:
        return cuda::launch_variable_decode<BoxDecoder<kType, 3>>(job, sink, open);
    }
  });
}

Status encode(const EncodeJob& job) {
  return job.layout.array.dtype == Dtype::kF32 ? encode_values<Dtype::kF32>(job)
                                               : encode_values<Dtype::kF64>(job);
}

Status decode(const DecodeJob& job) {
  return job.layout.array.dtype == Dtype::kF32 ? decode_values<Dtype::kF32>(job)
                                               : decode_values<Dtype::kF64>(job);
}

}  // namespace

const DeviceCodec kSzpDevice = {.workspace_bytes = workspace_bytes,
                                .encode = encode,
                                .decode = decode,
                                .seals = true,
                                .takes_blocks = true};

}  // namespace thinwire::codec
