#include "codec/blockq/chunk.cuh"
#include "codec/registry.h"

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

// Calls launch(dtype, element), both constants.
template <typename Launch>
Status with_types(Dtype dtype, Element element, Launch&& launch) {
  const auto with_element = [&](auto kDtype) -> Status {
    switch (element) {
      case Element::kInt4:
        return launch(kDtype, std::integral_constant<Element, Element::kInt4>{});
      case Element::kE4m3:
        return launch(kDtype, std::integral_constant<Element, Element::kE4m3>{});
      default:
        return launch(kDtype, std::integral_constant<Element, Element::kInt8>{});
    }
  };
  switch (dtype) {
    case Dtype::kF16:
      return with_element(DtypeConstant<Dtype::kF16>{});
    case Dtype::kBf16:
      return with_element(DtypeConstant<Dtype::kBf16>{});
    default:
      return with_element(DtypeConstant<Dtype::kF32>{});
  }
}

Status encode(const EncodeJob& job) {
  const Options options = unpack(job.parameter);
  return with_types(job.layout.array.dtype, options.element, [&](auto kDtype, auto kElement) {
    return encode_elements<kDtype, kElement>(job, options);
  });
}

Status decode(const DecodeJob& job) {
  const Options options = unpack(job.parameter);
  return with_types(job.layout.array.dtype, options.element, [&](auto kDtype, auto kElement) {
    return decode_elements<kDtype, kElement>(job, options);
  });
}

}  // namespace

const DeviceCodec kBlockqDevice = {
    .workspace_bytes = cuda::word_workspace_bytes, .encode = encode, .decode = decode};

}  // namespace thinwire::codec
