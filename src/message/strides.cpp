#include "message/strides.h"

#include <algorithm>
#include <string>

#include "codec/registry.h"

namespace thinwire::message {
namespace {

std::vector<Coder> all_strides(const codec::Codec& codec) {
  std::vector<Coder> found;
  for (int stride = 1; codec.strides.key != nullptr && stride <= codec.strides.most; ++stride) {
    found.push_back(with_stride(codec, stride));
  }
  return found;
}

}  // namespace

Coder coder_of(const codec::Codec& codec, std::span<const codec::Option> options) {
  const auto parameter = codec.parse(options);
  return {&codec, parameter.ok() ? *parameter : 0};
}

Coder with_stride(const codec::Codec& codec, int stride) {
  const std::string value = std::to_string(stride);
  const codec::Option option{codec.strides.key, value};
  return coder_of(codec, {&option, 1});
}

std::span<const Coder> by_stride(const codec::Codec& codec) {
  // Never ends, as automatic_candidates() does not.
  static const auto& all = *[] {
    auto* const of_codecs = new std::vector<std::vector<Coder>>;
    for (const codec::Codec* each : codec::all_codecs()) of_codecs->push_back(all_strides(*each));
    return of_codecs;
  }();
  for (const std::vector<Coder>& strided : all) {
    if (!strided.empty() && strided[0].codec == &codec) return strided;
  }
  return {};
}

std::size_t stride_of(const Coder& coder) {
  const std::span<const Coder> all = by_stride(*coder.codec);
  const auto at = std::ranges::find(all, coder.parameter, &Coder::parameter);
  return static_cast<std::size_t>(at - all.begin()) + 1;
}

}  // namespace thinwire::message
