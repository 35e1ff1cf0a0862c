#include "codec/cuda/variable_launch.cuh"
#include "codec/expack/decode.cuh"
#include "codec/expack/encode.cuh"
#include "codec/expack/fixed_encode.cuh"
#include "codec/expack/fixed_launch.cuh"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using namespace expack;

template <Dtype kType, bool kSmall>
struct ChunkCoder {
  static constexpr Dtype kDtype = kType;
  static constexpr int kThreads = 32 * kStretches;
  static constexpr int kResident = 6;  // as many as have room for two payloads of 16 KiB each
  static constexpr std::uint32_t kBytes = chunk_bytes(kSmall, Format<kDtype>::kValueBytes);
  // Decoding reads a word past the outer codes.
  static constexpr std::uint32_t kPayloadBytes = kBytes + 16;
  static constexpr int kRows = kBytes / Format<kDtype>::kValueBytes / kRowValues / kStretches;

  using State = EncodeState;

  __device__ static std::uint32_t encode(const cuda::Piece& piece, std::uint64_t* payload,
                                         std::uint64_t parameter, State& state) {
    return encode_piece<kDtype, kRows>(piece, reinterpret_cast<std::byte*>(payload), parameter,
                                       state);
  }

  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t, State& state,
                                const Sink& sink) {
    return decode_piece<kDtype, kRows>(reinterpret_cast<std::byte*>(payload), bytes, target,
                                       state.kept, sink);
  }
};

// The coder of chunks that fixed_decode.cuh does not decode itself.
template <Dtype kType>
struct OtherCoder : ChunkCoder<kType, false> {
  static constexpr int kDecodePayloads = 1;
  static constexpr int kDecodeResident = 8;

  struct DecodeState {
    std::uint32_t kept[kStretches];
  };

  template <typename Sink>
  __device__ static bool decode(std::uint64_t* payload, std::uint32_t bytes,
                                const cuda::Target& target, std::uint64_t, DecodeState& state,
                                const Sink& sink) {
    return decode_piece<kType, ChunkCoder<kType, false>::kRows>(
        reinterpret_cast<std::byte*>(payload), bytes, target, state.kept, sink);
  }
};

// Calls launch with the coder of an array.
template <bool kSmall, typename Launch>
Status with_coder_of(Dtype dtype, Launch&& launch) {
  if (dtype == Dtype::kBf16) return launch(ChunkCoder<Dtype::kBf16, kSmall>{});
  if (dtype == Dtype::kF16) return launch(ChunkCoder<Dtype::kF16, kSmall>{});
  if (dtype == Dtype::kE4m3) return launch(ChunkCoder<Dtype::kE4m3, kSmall>{});
  if (dtype == Dtype::kE5m2) return launch(ChunkCoder<Dtype::kE5m2, kSmall>{});
  return launch(ChunkCoder<Dtype::kF32, kSmall>{});
}

template <typename Launch>
Status with_coder(const Layout& layout, Launch&& launch) {
  const Dtype dtype = layout.array.dtype;
  if (has_small_chunks(layout.array.shape.count(), dtype_size(dtype))) {
    return with_coder_of<true>(dtype, launch);
  }
  return with_coder_of<false>(dtype, launch);
}

bool is_aligned(const void* memory, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(memory) % bytes == 0;
}

// Whether values and frames lie as FixedCoder takes them, whose words are loaded and stored
// whole.
bool are_aligned(const EncodeJob& job) {
  const auto is_so = [](const std::byte* values, const std::byte* frame) {
    return is_aligned(values, sizeof(uint4)) && is_aligned(frame, sizeof(std::uint64_t));
  };
  if (job.blocks == nullptr) return is_so(job.source, job.frame);
  for (int at = 0; at < job.blocks->count; ++at) {
    const Block& block = job.blocks->at[at];
    if (!is_so(block.from, block.to)) return false;
  }
  return true;
}

bool takes_fixed_encoder(const EncodeJob& job) {
  const Chunk& array = job.layout.array;
  return array.dtype == FixedCoder::kDtype &&
         !has_small_chunks(array.shape.count(), dtype_size(array.dtype)) &&
         job.parameter == static_cast<std::uint64_t>(Mode::kFixed) && are_aligned(job);
}

Status encode(const EncodeJob& job) {
  if (takes_fixed_encoder(job)) return cuda::launch_variable_encode<FixedCoder>(job);
  return with_coder(
      job.layout, [&]<typename Coder>(Coder) { return cuda::launch_variable_encode<Coder>(job); });
}

Status decode(const DecodeJob& job) {
  const Dtype dtype = job.layout.array.dtype;
  const bool is_fixed = job.parameter == static_cast<std::uint64_t>(Mode::kFixed) &&
                        !has_small_chunks(job.layout.array.shape.count(), dtype_size(dtype));
  if (is_fixed && dtype == Dtype::kBf16) return launch_fixed_decode<OtherCoder<Dtype::kBf16>>(job);
  if (is_fixed && dtype == Dtype::kF16) return launch_fixed_decode<OtherCoder<Dtype::kF16>>(job);
  return with_coder(
      job.layout, [&]<typename Coder>(Coder) { return cuda::launch_variable_decode<Coder>(job); });
}

}  // namespace

const DeviceCodec kExpackDevice = {.workspace_bytes = cuda::variable_workspace_bytes,
                                   .encode = encode,
                                   .decode = decode,
                                   .seals = true,
                                   .takes_blocks = true};

}  // namespace thinwire::codec
