#include "codec/blockq/blockq.h"
#include "codec/blockq/chunk.cuh"

namespace thinwire::codec {
namespace {

using namespace blockq;

cuda::WordChunks chunks_of(const Layout& layout, const Options& options) {
  if (layout.chunks == 0) return {};
  const std::uint64_t last = layout.array.shape.count() - (layout.chunks - 1) * kChunkValues;
  return {.chunks = layout.chunks,
          .chunk_bytes = options.payload_bytes(kChunkValues),
          .last_bytes = options.payload_bytes(static_cast<std::uint32_t>(last))};
}

template <Dtype kDtype, Element kElement>
Status encode_elements(const EncodeJob& job, const Options& options) {
  const auto chunks = chunks_of(job.layout, options);
  const Plan plan = make_plan<kElement>(job.layout.array.shape.count(), options);
  if (options.rotated || options.stochastic) {
    return cuda::launch_words_encode(job, chunks, Encoder<kDtype, kElement, false>{plan});
  }
  return cuda::launch_words_encode(job, chunks, Encoder<kDtype, kElement, true>{plan});
}

template <Dtype kDtype, Element kElement>
Status decode_elements(const DecodeJob& job, const Options& options) {
  const auto chunks = chunks_of(job.layout, options);
  const Plan plan = make_plan<kElement>(job.layout.array.shape.count(), options);
  return cuda::with_sink<kDtype>(job, [&](const auto& sink) {
    using Sink = std::decay_t<decltype(sink)>;
    return cuda::launch_words_decode(job, chunks, Decoder<kElement, Sink>{plan, sink});
  });
}

template <Dtype kDtype>
Status encode_values(const EncodeJob& job) {
  const Options options = unpack(job.parameter);
  switch (options.element) {
    case Element::kInt4:
      return encode_elements<kDtype, Element::kInt4>(job, options);
    case Element::kE4m3:
      return encode_elements<kDtype, Element::kE4m3>(job, options);
    default:
      return encode_elements<kDtype, Element::kInt8>(job, options);
  }
}

template <Dtype kDtype>
Status decode_values(const DecodeJob& job) {
  const Options options = unpack(job.parameter);
  switch (options.element) {
    case Element::kInt4:
      return decode_elements<kDtype, Element::kInt4>(job, options);
    case Element::kE4m3:
      return decode_elements<kDtype, Element::kE4m3>(job, options);
    default:
      return decode_elements<kDtype, Element::kInt8>(job, options);
  }
}

Status encode(const EncodeJob& job) {
  switch (job.layout.array.dtype) {
    case Dtype::kF16:
      return encode_values<Dtype::kF16>(job);
    case Dtype::kBf16:
      return encode_values<Dtype::kBf16>(job);
    default:
      return encode_values<Dtype::kF32>(job);
  }
}

Status decode(const DecodeJob& job) {
  switch (job.layout.array.dtype) {
    case Dtype::kF16:
      return decode_values<Dtype::kF16>(job);
    case Dtype::kBf16:
      return decode_values<Dtype::kBf16>(job);
    default:
      return decode_values<Dtype::kF32>(job);
  }
}

}  // namespace

const DeviceCodec kBlockqDevice = {
    .workspace_bytes = cuda::word_workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
