// Fixed-rate zfp, one thread: this library beside libzfp in one run, alternating, over 16 MiB (fp64
// 32 MiB). Every line is printed only after both gave the same stream and the same values.
#include <thinwire/thinwire.h>
#include <zfp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kValues = std::size_t{4} << 20;
constexpr int kRepeats = 9;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "codec_zfp_vs_libzfp: %s\n", what.c_str());
  std::exit(1);
}

void require(tw_status status, const char* call) {
  if (status != TW_OK) fail(std::string(call) + ": " + tw_last_error());
}

template <typename Scalar>
inline constexpr tw_dtype kDtype = sizeof(Scalar) == 8 ? TW_F64 : TW_F32;
template <typename Scalar>
inline constexpr zfp_type kZfpType = sizeof(Scalar) == 8 ? zfp_type_double : zfp_type_float;

// The same number of values in every rank.
tw_shape make_shape(tw_dtype dtype, std::uint32_t rank) {
  tw_shape shape{};
  shape.dtype = static_cast<std::uint32_t>(dtype);
  shape.rank = rank;
  const std::uint64_t extents[3][3] = {{kValues}, {2048, 2048}, {128, 128, 256}};
  std::copy(std::begin(extents[rank - 1]), std::end(extents[rank - 1]), shape.extent);
  return shape;
}

// Waves along every axis.
template <typename Scalar>
std::vector<Scalar> smooth_field(const tw_shape& shape) {
  std::vector<Scalar> values(kValues);
  const std::uint64_t nx = shape.extent[shape.rank - 1];
  const std::uint64_t ny = shape.rank > 1 ? shape.extent[shape.rank - 2] : 1;
  for (std::size_t i = 0; i < kValues; ++i) {
    const auto x = static_cast<double>(i % nx);
    const auto y = static_cast<double>(i / nx % ny);
    const auto z = static_cast<double>(i / nx / ny);
    values[i] = static_cast<Scalar>(std::sin(x * 0.01 + y * 0.013 + z * 0.02) +
                                    0.3 * std::sin(x * 0.00137 - y * 0.04));
  }
  return values;
}

template <typename Scalar>
std::vector<Scalar> random_field() {
  std::mt19937 random(1);
  std::normal_distribution<Scalar> normal;
  std::vector<Scalar> values(kValues);
  for (Scalar& value : values) value = normal(random);
  return values;
}

template <typename Scalar>
class Ours {
 public:
  Ours(const tw_shape& shape, int rate) : shape_(shape) {
    const std::string spec = "zfp:rate=" + std::to_string(rate);
    require(tw_codec_create(spec.c_str(), &codec_), "tw_codec_create");
    // Without checksums, because libzfp has none.
    options_.size = sizeof options_;
    options_.flags = TW_MESSAGE_NO_CHECKSUM;
    std::uint64_t bound = 0;
    require(tw_message_bound(codec_, &shape_, &bound), "tw_message_bound");
    frame_.resize(bound);
  }
  ~Ours() { tw_codec_destroy(codec_); }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  void encode(const std::vector<Scalar>& values) {
    require(tw_message_encode(codec_, &shape_, values.data(), frame_.data(), frame_.size(),
                              &options_, &written_),
            "tw_message_encode");
  }
  void decode(std::vector<Scalar>& values) {
    require(tw_message_decode(frame_.data(), written_, values.data(),
                              values.size() * sizeof(Scalar), &options_, nullptr),
            "tw_message_decode");
  }

  // The payload ends the frame.
  bool payload_is(const std::vector<std::byte>& stream, std::size_t size) const {
    return written_ > size &&
           std::memcmp(frame_.data() + written_ - size, stream.data(), size) == 0;
  }

 private:
  tw_codec* codec_ = nullptr;
  tw_shape shape_;
  tw_message_options options_{};
  std::vector<std::byte> frame_;
  std::uint64_t written_ = 0;
};

template <typename Scalar>
class Libzfp {
 public:
  Libzfp(const tw_shape& shape, int rate)
      : shape_(shape), stream_(kValues * static_cast<std::size_t>(rate) / 8 + 64) {
    bits_ = stream_open(stream_.data(), stream_.size());
    zfp_ = zfp_stream_open(bits_);
    zfp_stream_set_rate(zfp_, rate, kZfpType<Scalar>, shape.rank, 0);
  }
  ~Libzfp() {
    zfp_stream_close(zfp_);
    stream_close(bits_);
  }
  Libzfp(const Libzfp&) = delete;
  Libzfp& operator=(const Libzfp&) = delete;

  // libzfp takes a mutable array in both directions; encoding does not write to it.
  void encode(const std::vector<Scalar>& values) {
    run(const_cast<Scalar*>(values.data()), zfp_compress);
  }
  void decode(std::vector<Scalar>& values) { run(values.data(), zfp_decompress); }

  const std::vector<std::byte>& stream() const { return stream_; }
  std::size_t size() const { return size_; }

 private:
  zfp_field* make_field(Scalar* values) const {
    const auto* e = shape_.extent;
    constexpr zfp_type kType = kZfpType<Scalar>;
    if (shape_.rank == 1) return zfp_field_1d(values, kType, e[0]);
    if (shape_.rank == 2) return zfp_field_2d(values, kType, e[1], e[0]);
    return zfp_field_3d(values, kType, e[2], e[1], e[0]);
  }

  template <typename Call>
  void run(Scalar* values, Call call) {
    zfp_field* field = make_field(values);
    zfp_stream_rewind(zfp_);
    size_ = call(zfp_, field);
    zfp_field_free(field);
    if (size_ == 0) fail("libzfp refused");
  }

  tw_shape shape_;
  std::vector<std::byte> stream_;
  bitstream* bits_ = nullptr;
  zfp_stream* zfp_ = nullptr;
  std::size_t size_ = 0;
};

template <typename Work>
void time_once(double& best, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  best = std::min(best, spent.count());
}

template <typename Scalar>
void compare(const char* data, const tw_shape& shape, const std::vector<Scalar>& values, int rate) {
  Ours<Scalar> ours(shape, rate);
  Libzfp<Scalar> libzfp(shape, rate);
  std::vector<Scalar> our_values(kValues);
  std::vector<Scalar> their_values(kValues);
  double best[4];
  std::fill(std::begin(best), std::end(best), std::numeric_limits<double>::infinity());
  for (int i = 0; i < kRepeats; ++i) {
    time_once(best[0], [&] { ours.encode(values); });
    time_once(best[1], [&] { libzfp.encode(values); });
    time_once(best[2], [&] { ours.decode(our_values); });
    time_once(best[3], [&] { libzfp.decode(their_values); });
  }
  if (!ours.payload_is(libzfp.stream(), libzfp.size())) fail("the streams differ");
  if (std::memcmp(our_values.data(), their_values.data(), kValues * sizeof(Scalar)) != 0) {
    fail("the decoded values differ");
  }
  const auto rate_of = [&](int i) { return kValues * sizeof(Scalar) / best[i] / 1e6; };
  std::printf("%u-D  %s  %-7s %4d  %8.0f %8.0f %6.2fx  %8.0f %8.0f %6.2fx\n", shape.rank,
              sizeof(Scalar) == 8 ? "f64" : "f32", data, rate, rate_of(0), rate_of(1),
              best[1] / best[0], rate_of(2), rate_of(3), best[3] / best[2]);
  std::fflush(stdout);
}

template <typename Scalar>
void compare_all() {
  const std::vector<Scalar> random = random_field<Scalar>();
  for (std::uint32_t rank = 1; rank <= 3; ++rank) {
    const tw_shape shape = make_shape(kDtype<Scalar>, rank);
    const std::vector<Scalar> smooth = smooth_field<Scalar>(shape);
    for (const int rate : {8, 16}) {
      compare("smooth", shape, smooth, rate);
      compare("random", shape, random, rate);
    }
  }
}

}  // namespace

int main() {
  std::printf("MB/s of uncompressed bytes, best of %d; %s, %zu-bit stream words\n\n", kRepeats,
              zfp_version_string, stream_word_bits);
  std::printf("%3s  %3s  %-7s %4s  %8s %8s %7s  %8s %8s %7s\n", "", "", "data", "rate", "encode",
              "libzfp", "", "decode", "libzfp", "");
  compare_all<float>();
  compare_all<double>();
  return 0;
}
