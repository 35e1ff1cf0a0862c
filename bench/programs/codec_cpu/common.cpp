#include "common.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>

namespace thinwire::bench {
namespace {

template <typename Scalar, typename Value>
Bytes fill(const Value& value) {
  Bytes bytes(kValues * sizeof(Scalar));
  for (std::size_t i = 0; i < kValues; ++i) {
    const auto scalar = static_cast<Scalar>(value(i));
    std::memcpy(bytes.data() + i * sizeof scalar, &scalar, sizeof scalar);
  }
  return bytes;
}

template <typename Value>
Bytes fill(const tw_shape& shape, const Value& value) {
  return shape.dtype == TW_F64 ? fill<double>(value) : fill<float>(value);
}

}  // namespace

void fail(const std::string& what) {
  std::fprintf(stderr, "codec_cpu: %s\n", what.c_str());
  std::exit(1);
}

void require(tw_status status, const char* call) {
  if (status != TW_OK) fail(std::string(call) + ": " + tw_last_error());
}

tw_shape make_shape(tw_dtype dtype, std::uint32_t rank) {
  tw_shape shape{};
  shape.dtype = static_cast<std::uint32_t>(dtype);
  shape.rank = rank;
  const std::uint64_t extents[3][3] = {{kValues}, {2048, 2048}, {128, 128, 256}};
  std::copy(std::begin(extents[rank - 1]), std::end(extents[rank - 1]), shape.extent);
  return shape;
}

Bytes waves(const tw_shape& shape, double noise) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  const std::uint64_t nx = shape.extent[shape.rank - 1];
  const std::uint64_t ny = shape.rank > 1 ? shape.extent[shape.rank - 2] : 1;
  return fill(shape, [&](std::size_t i) {
    const auto x = static_cast<double>(i % nx);
    const auto y = static_cast<double>(i / nx % ny);
    const auto z = static_cast<double>(i / nx / ny);
    const double wave =
        std::sin(x * 0.01 + y * 0.013 + z * 0.02) + 0.3 * std::sin(x * 0.00137 - y * 0.04);
    return noise == 0 ? wave : wave + noise * normal(random);
  });
}

Bytes normal_noise(const tw_shape& shape) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  return fill(shape, [&](std::size_t) { return normal(random); });
}

Ours::Ours(const std::string& spec, const tw_shape& shape) : shape_(shape) {
  require(tw_codec_create(spec.c_str(), &codec_), "tw_codec_create");
  options_.size = sizeof options_;
  options_.flags = TW_MESSAGE_NO_CHECKSUM;
  std::uint64_t bound = 0;
  require(tw_message_bound(codec_, &shape_, &bound), "tw_message_bound");
  frame_.resize(bound);
}

void Ours::encode(const Bytes& values) {
  require(tw_message_encode(codec_, &shape_, values.data(), frame_.data(), frame_.size(), &options_,
                            &written_),
          "tw_message_encode");
}

void Ours::decode(Bytes& values) const {
  require(
      tw_message_decode(frame_.data(), written_, values.data(), values.size(), &options_, nullptr),
      "tw_message_decode");
}

bool Ours::ends_with(const Bytes& stream, std::size_t size) const {
  return written_ > size && std::memcmp(frame_.data() + written_ - size, stream.data(), size) == 0;
}

}  // namespace thinwire::bench
