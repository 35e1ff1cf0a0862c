#include "codec/cuda/variable_launch.cuh"
#include "codec/ndzip/box_coder.cuh"
#include "codec/ndzip/ndzip.h"

namespace thinwire::codec {
namespace {

using ndzip::BoxCoder;

template <Dtype kDtype>
Status encode_values(const EncodeJob& job) {
  switch (ndzip::real_axes(job.layout.array.shape)) {
    case 3:
      return cuda::launch_variable_encode<BoxCoder<kDtype, 3>>(job);
    case 2:
      return cuda::launch_variable_encode<BoxCoder<kDtype, 2>>(job);
    default:
      return cuda::launch_variable_encode<BoxCoder<kDtype, 1>>(job);
  }
}

template <Dtype kDtype>
Status decode_values(const DecodeJob& job) {
  switch (ndzip::real_axes(job.layout.array.shape)) {
    case 3:
      return cuda::launch_variable_decode<BoxCoder<kDtype, 3>>(job);
    case 2:
      return cuda::launch_variable_decode<BoxCoder<kDtype, 2>>(job);
    default:
      return cuda::launch_variable_decode<BoxCoder<kDtype, 1>>(job);
  }
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

const DeviceCodec kNdzipDevice = {
    .workspace_bytes = cuda::variable_workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
