#include "codec/cast/chunk.cuh"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

using namespace cast;

cuda::WordChunks chunks_of(const Layout& layout, Dtype to) {
  if (layout.chunks == 0) return {};
  const std::uint64_t last = layout.array.shape.count() - (layout.chunks - 1) * chunk_values(to);
  return {.chunks = layout.chunks,
          .chunk_bytes = kPayloadBytes,
          .last_bytes = payload_bytes(to, static_cast<std::uint32_t>(last))};
}

template <Dtype kFrom, Dtype kTo>
Status encode_as(const EncodeJob& job, const Options& options) {
  const auto chunks = chunks_of(job.layout, kTo);
  const std::uint64_t values = job.layout.array.shape.count();
  unsigned* const problems = job.declines_integers ? cuda::problems_of(job.workspace) : nullptr;
  if (options.stochastic) {
    const Encoder<kFrom, kTo, true> encoder{values, options.seed, problems};
    return cuda::launch_words_encode(job, chunks, encoder);
  }
  return cuda::launch_words_encode(job, chunks, Encoder<kFrom, kTo, false>{values, 0, problems});
}

template <Dtype kFrom, Dtype kTo>
Status decode_as(const DecodeJob& job) {
  return cuda::with_sink<kFrom>(job, [&](const auto& sink) {
    using Sink = std::decay_t<decltype(sink)>;
    const Decoder<kTo, Sink> decoder{job.layout.array.shape.count(), sink};
    return cuda::launch_words_decode(job, chunks_of(job.layout, kTo), decoder);
  });
}

// Calls launch(the array's type, the narrower one), both constants.
template <typename Launch>
Status with_types(Dtype from, Dtype to, Launch&& launch) {
  const DtypeConstant<Dtype::kF32> f32;
  const DtypeConstant<Dtype::kF64> f64;
  const DtypeConstant<Dtype::kBf16> bf16;
  const DtypeConstant<Dtype::kF16> f16;
  if (from == Dtype::kF32) return to == Dtype::kBf16 ? launch(f32, bf16) : launch(f32, f16);
  if (to == Dtype::kF32) return launch(f64, f32);
  return to == Dtype::kBf16 ? launch(f64, bf16) : launch(f64, f16);
}

Status encode(const EncodeJob& job) {
  const Options options = unpack(job.parameter);
  return with_types(job.layout.array.dtype, options.to,
                    [&](auto kFrom, auto kTo) { return encode_as<kFrom, kTo>(job, options); });
}

Status decode(const DecodeJob& job) {
  return with_types(job.layout.array.dtype, unpack(job.parameter).to,
                    [&](auto kFrom, auto kTo) { return decode_as<kFrom, kTo>(job); });
}

}  // namespace

const DeviceCodec kCastDevice = {
    .workspace_bytes = cuda::word_workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
