#include "message/strides.h"

#include <algorithm>
#include <string>

#include "codec/registry.h"

namespace thinwire::message {
namespace {

struct Strided {
  const char* codec;
  const char* key;
  int most;
};

constexpr std::array<Strided, 3> kStrided = {
    {{"lorenzo", "tuple", 3}, {"mpc", "stride", 32}, {"ans", "tuple", 32}}};

std::vector<Coder> coders(const Strided& strided) {
  std::vector<Coder> found;
  const codec::Codec* codec = codec::find_codec(strided.codec);
  for (int stride = 1; codec != nullptr && stride <= strided.most; ++stride) {
    const std::string value = std::to_string(stride);
    const codec::Option option{strided.key, value};
    found.push_back(coder_of(*codec, {&option, 1}));
  }
  return found;
}

}  // namespace

Coder coder_of(const codec::Codec& codec, std::span<const codec::Option> options) {
  const auto parameter = codec.parse(options);
  return {&codec, parameter.ok() ? *parameter : 0};
}

std::span<const Coder> by_stride(const codec::Codec& codec) {
  static const std::array<std::vector<Coder>, kStrided.size()> all = {
      coders(kStrided[0]), coders(kStrided[1]), coders(kStrided[2])};
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
