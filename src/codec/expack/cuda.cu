#include "codec/cuda/variable_launch.cuh"
#include "codec/expack/decode.cuh"
#include "codec/expack/encode.cuh"
#include "codec/expack/expack.h"

namespace thinwire::codec {
namespace {

using namespace expack;

template <Dtype kType>
struct ChunkCoder {
  static constexpr Dtype kDtype = kType;
  static constexpr int kThreads = 32 * kWarps<kDtype>;
#ifndef RES
#define RES 4
#endif
  static constexpr int kResident = RES * 256 / kThreads;
  // Decoding reads a word behind the outer codes.
  static constexpr std::uint32_t kPayloadBytes = kChunkBytes + 16;

  union State {
    typename Encoder<kDtype>::State encode;
    typename Decoder<kDtype>::State decode;
  };

  __device__ static std::uint32_t encode(const cuda::Piece& piece, std::uint64_t* payload,
                                         std::uint64_t parameter, State& state) {
    Encoder<kDtype> encoder{piece,
                            reinterpret_cast<std::byte*>(payload),
                            state.encode,
                            threadIdx.x % 32,
                            static_cast<int>(threadIdx.x / 32) * kWarpRows,
                            static_cast<int>(rows_of(piece.values))};
    return encoder.encode(parameter);
  }

  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t, State& state,
                                const Sink& sink) {
    Decoder<kDtype> decoder{reinterpret_cast<const std::byte*>(payload),
                            target,
                            state.decode,
                            threadIdx.x % 32,
                            static_cast<int>(threadIdx.x / 32) * kWarpRows,
                            static_cast<int>(rows_of(target.values)),
                            {},
                            0,
                            0,
                            0};
    return decoder.decode(bytes, sink);
  }
};

std::uint64_t workspace_bytes(const Layout& layout, std::uint64_t) {
  return cuda::variable_workspace_bytes(layout);
}

// Calls launch with the coder of a type.
template <typename Launch>
Status with_coder(Dtype dtype, Launch&& launch) {
  if (dtype == Dtype::kBf16) return launch(ChunkCoder<Dtype::kBf16>{});
  if (dtype == Dtype::kF16) return launch(ChunkCoder<Dtype::kF16>{});
  return launch(ChunkCoder<Dtype::kF32>{});
}

Status encode(const EncodeJob& job) {
  return with_coder(job.layout.array.dtype, [&]<typename Coder>(Coder) {
    return cuda::launch_variable_encode<Coder>(job);
  });
}

Status decode(const DecodeJob& job) {
  return with_coder(job.layout.array.dtype, [&]<typename Coder>(Coder) {
    return cuda::launch_variable_decode<Coder>(job);
  });
}

}  // namespace

const DeviceCodec kExpackDevice = {
    .workspace_bytes = workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
