#include "codec/cuda/variable_launch.cuh"
#include "codec/ndzip/box_coder.cuh"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using ndzip::BoxCoder;

// Calls launch with the coder of such arrays.
template <typename Launch>
Status with_coder(const Layout& layout, Launch&& launch) {
  const auto with_axes = [&](auto kDtype) -> Status {
    switch (ndzip::real_axes(layout.array.shape)) {
      case 3:
        return launch(BoxCoder<kDtype, 3>());
      case 2:
        return launch(BoxCoder<kDtype, 2>());
      default:
        return launch(BoxCoder<kDtype, 1>());
    }
  };
  return layout.array.dtype == Dtype::kF32 ? with_axes(DtypeConstant<Dtype::kF32>{})
                                           : with_axes(DtypeConstant<Dtype::kF64>{});
}

Status encode(const EncodeJob& job) {
  return with_coder(
      job.layout, [&]<typename Coder>(Coder) { return cuda::launch_variable_encode<Coder>(job); });
}

Status decode(const DecodeJob& job) {
  return with_coder(
      job.layout, [&]<typename Coder>(Coder) { return cuda::launch_variable_decode<Coder>(job); });
}

}  // namespace

const DeviceCodec kNdzipDevice = {.workspace_bytes = cuda::variable_workspace_bytes,
                                  .encode = encode,
                                  .decode = decode,
                                  .seals = true,
                                  .takes_blocks = true};

}  // namespace thinwire::codec
