// Fixed-rate zfp beside libzfp, alternating, over 16 MiB (fp64 32 MiB).
#include "common.h"

#if defined(THINWIRE_BENCH_LIBZFP)
#include <zfp.h>

#include <cstdio>

namespace thinwire::bench {
namespace {

class Libzfp {
 public:
  Libzfp(const tw_shape& shape, int rate)
      : shape_(shape), stream_(kValues * static_cast<std::size_t>(rate) / 8 + 64) {
    bits_ = stream_open(stream_.data(), stream_.size());
    zfp_ = zfp_stream_open(bits_);
    zfp_stream_set_rate(zfp_, rate, type(), shape.rank, 0);
  }
  ~Libzfp() {
    zfp_stream_close(zfp_);
    stream_close(bits_);
  }
  Libzfp(const Libzfp&) = delete;
  Libzfp& operator=(const Libzfp&) = delete;

  // libzfp takes a mutable array in both directions; encoding does not write to it.
  void encode(const Bytes& values) { run(const_cast<std::byte*>(values.data()), zfp_compress); }
  void decode(Bytes& values) { run(values.data(), zfp_decompress); }

  const Bytes& stream() const { return stream_; }
  std::size_t size() const { return size_; }

 private:
  zfp_type type() const { return shape_.dtype == TW_F64 ? zfp_type_double : zfp_type_float; }

  zfp_field* make_field(std::byte* values) const {
    const auto* e = shape_.extent;
    if (shape_.rank == 1) return zfp_field_1d(values, type(), e[0]);
    if (shape_.rank == 2) return zfp_field_2d(values, type(), e[1], e[0]);
    return zfp_field_3d(values, type(), e[2], e[1], e[0]);
  }

  template <typename Call>
  void run(std::byte* values, Call call) {
    zfp_field* field = make_field(values);
    zfp_stream_rewind(zfp_);
    size_ = call(zfp_, field);
    zfp_field_free(field);
    if (size_ == 0) fail("libzfp refused");
  }

  tw_shape shape_;
  Bytes stream_;
  bitstream* bits_ = nullptr;
  zfp_stream* zfp_ = nullptr;
  std::size_t size_ = 0;
};

void compare(const char* data, const tw_shape& shape, const Bytes& values, int rate) {
  Ours ours("zfp:rate=" + std::to_string(rate), shape);
  Libzfp libzfp(shape, rate);
  Bytes our_values(values.size()), their_values(values.size());
  Clock our_encode, their_encode, our_decode, their_decode;
  for (int i = 0; i < kRepeats; ++i) {
    our_encode.time([&] { ours.encode(values); });
    their_encode.time([&] { libzfp.encode(values); });
    our_decode.time([&] { ours.decode(our_values); });
    their_decode.time([&] { libzfp.decode(their_values); });
  }
  if (!ours.ends_with(libzfp.stream(), libzfp.size())) fail("the streams differ");
  if (our_values != their_values) fail("the decoded values differ");
  const auto rate_of = [&](const Clock& clock) { return clock.megabytes_a_second(values.size()); };
  std::printf("%u-D  %s  %-7s %4d  %8.0f %8.0f %6.2fx  %8.0f %8.0f %6.2fx\n", shape.rank,
              name_of(static_cast<tw_dtype>(shape.dtype)), data, rate, rate_of(our_encode),
              rate_of(their_encode), their_encode.best() / our_encode.best(), rate_of(our_decode),
              rate_of(their_decode), their_decode.best() / our_decode.best());
  std::fflush(stdout);
}

}  // namespace

void compare_zfp() {
  std::printf("zfp beside libzfp (%s, %zu-bit stream words)\n\n", zfp_version_string,
              stream_word_bits);
  std::printf("%3s  %3s  %-7s %4s  %8s %8s %7s  %8s %8s %7s\n", "", "", "data", "rate", "encode",
              "libzfp", "", "decode", "libzfp", "");
  for (const tw_dtype dtype : {TW_F32, TW_F64}) {
    const Bytes random = normal_noise(make_shape(dtype, 1));
    for (std::uint32_t rank = 1; rank <= 3; ++rank) {
      const tw_shape shape = make_shape(dtype, rank);
      const Bytes smooth = waves(shape, 0);
      for (const int rate : {8, 16}) {
        compare("smooth", shape, smooth, rate);
        compare("random", shape, random, rate);
      }
    }
  }
}

}  // namespace thinwire::bench

#else

#include <cstdio>

namespace thinwire::bench {
void compare_zfp() { std::printf("zfp: skipped, libzfp was not found when this was built\n"); }
}  // namespace thinwire::bench

#endif
