// Fixed-rate zfp, one thread: this library beside libzfp in one run, alternating, over 16 MiB.
// Every line is printed only after both gave the same stream and the same values.
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
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kValues = std::size_t{4} << 20;
constexpr double kRawBytes = kValues * sizeof(float);
constexpr int kRepeats = 11;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "codec_zfp_vs_libzfp: %s\n", what.c_str());
  std::exit(1);
}

void require(tw_status status, const char* call) {
  if (status != TW_OK) fail(std::string(call) + ": " + tw_last_error());
}

std::vector<float> smooth_field() {
  std::vector<float> values(kValues);
  for (std::size_t i = 0; i < kValues; ++i) {
    const auto x = static_cast<double>(i);
    values[i] = static_cast<float>(std::sin(x * 0.01) + 0.3 * std::sin(x * 0.00137));
  }
  return values;
}

std::vector<float> random_field() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(kValues);
  for (float& value : values) value = normal(random);
  return values;
}

class Ours {
 public:
  explicit Ours(int rate) {
    const std::string spec = "zfp:rate=" + std::to_string(rate);
    require(tw_codec_create(spec.c_str(), &codec_), "tw_codec_create");
    std::uint64_t bound = 0;
    require(tw_message_bound(codec_, &shape_, &bound), "tw_message_bound");
    frame_.resize(bound);
  }
  ~Ours() { tw_codec_destroy(codec_); }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  void encode(const std::vector<float>& values) {
    require(tw_message_encode(codec_, &shape_, values.data(), frame_.data(), frame_.size(),
                              &options_, &written_),
            "tw_message_encode");
  }
  void decode(std::vector<float>& values) {
    require(tw_message_decode(frame_.data(), written_, values.data(), values.size() * sizeof(float),
                              &options_, nullptr),
            "tw_message_decode");
  }

  // The payload ends the frame.
  bool payload_is(const std::vector<std::byte>& stream, std::size_t size) const {
    return written_ > size &&
           std::memcmp(frame_.data() + written_ - size, stream.data(), size) == 0;
  }

 private:
  tw_codec* codec_ = nullptr;
  tw_shape shape_{.dtype = TW_F32, .rank = 1, .extent = {kValues}};
  // Without checksums, because libzfp has none.
  tw_message_options options_{.size = sizeof(tw_message_options),
                              .flags = TW_MESSAGE_NO_CHECKSUM,
                              .job = nullptr,
                              .job_bytes = 0};
  std::vector<std::byte> frame_;
  std::uint64_t written_ = 0;
};

class Libzfp {
 public:
  explicit Libzfp(int rate) : stream_(kValues * static_cast<std::size_t>(rate) / 8 + 64) {
    bits_ = stream_open(stream_.data(), stream_.size());
    zfp_ = zfp_stream_open(bits_);
    zfp_stream_set_rate(zfp_, rate, zfp_type_float, 1, 0);
  }
  ~Libzfp() {
    zfp_stream_close(zfp_);
    stream_close(bits_);
  }
  Libzfp(const Libzfp&) = delete;
  Libzfp& operator=(const Libzfp&) = delete;

  // libzfp takes a mutable array in both directions; encoding does not write to it.
  void encode(const std::vector<float>& values) {
    run(const_cast<float*>(values.data()), zfp_compress);
  }
  void decode(std::vector<float>& values) { run(values.data(), zfp_decompress); }

  const std::vector<std::byte>& stream() const { return stream_; }
  std::size_t size() const { return size_; }

 private:
  template <typename Call>
  void run(float* values, Call call) {
    zfp_field* field = zfp_field_1d(values, zfp_type_float, kValues);
    zfp_stream_rewind(zfp_);
    size_ = call(zfp_, field);
    zfp_field_free(field);
    if (size_ == 0) fail("libzfp refused");
  }

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

void compare(const char* data, const std::vector<float>& values, int rate) {
  Ours ours(rate);
  Libzfp libzfp(rate);
  std::vector<float> our_values(kValues);
  std::vector<float> their_values(kValues);
  double best[4];
  std::fill(std::begin(best), std::end(best), std::numeric_limits<double>::infinity());
  for (int i = 0; i < kRepeats; ++i) {
    time_once(best[0], [&] { ours.encode(values); });
    time_once(best[1], [&] { libzfp.encode(values); });
    time_once(best[2], [&] { ours.decode(our_values); });
    time_once(best[3], [&] { libzfp.decode(their_values); });
  }
  if (!ours.payload_is(libzfp.stream(), libzfp.size())) fail("the streams differ");
  if (std::memcmp(our_values.data(), their_values.data(), kValues * sizeof(float)) != 0) {
    fail("the decoded values differ");
  }
  const auto rate_of = [&](int i) { return kRawBytes / best[i] / 1e6; };
  std::printf("%-7s %4d  %8.0f %8.0f %6.2fx  %8.0f %8.0f %6.2fx\n", data, rate, rate_of(0),
              rate_of(1), best[1] / best[0], rate_of(2), rate_of(3), best[3] / best[2]);
}

}  // namespace

int main() {
  std::printf("MB/s of uncompressed bytes, best of %d; %s, %zu-bit stream words\n\n", kRepeats,
              zfp_version_string, stream_word_bits);
  std::printf("%-7s %4s  %8s %8s %7s  %8s %8s %7s\n", "data", "rate", "encode", "libzfp", "",
              "decode", "libzfp", "");
  const std::vector<float> smooth = smooth_field();
  const std::vector<float> random = random_field();
  for (const int rate : {8, 16}) {
    compare("smooth", smooth, rate);
    compare("random", random, rate);
  }
  return 0;
}
