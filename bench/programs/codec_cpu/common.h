// Parts of codec_cpu: clocks, fields, this library's coder.
#pragma once

#include <thinwire/thinwire.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace thinwire::bench {

inline constexpr std::size_t kValues = std::size_t{4} << 20;
inline constexpr int kRepeats = 9;

[[noreturn]] void fail(const std::string& what);
void require(tw_status status, const char* call);

inline std::size_t value_bytes(tw_dtype dtype) { return dtype == TW_F64 ? 8 : 4; }
inline const char* name_of(tw_dtype dtype) { return dtype == TW_F64 ? "f64" : "f32"; }

// kValues values, the same in every rank.
tw_shape make_shape(tw_dtype dtype, std::uint32_t rank);

// The values of such an array, as bytes.
using Bytes = std::vector<std::byte>;

// Waves along every axis, with normal noise of this amplitude.
Bytes waves(const tw_shape& shape, double noise);
Bytes normal_noise(const tw_shape& shape);

// Repeated calls, timed each: the best for what is compared with others in turns.
class Clock {
 public:
  template <typename Work>
  void time(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (best_ == 0 || spent.count() < best_) best_ = spent.count();
  }
  double best() const { return best_; }
  double megabytes_a_second(std::size_t bytes) const {
    return static_cast<double>(bytes) / best_ / 1e6;
  }

 private:
  double best_ = 0;
};

// A codec of this library, into a frame without checksums, because its peers have none.
class Ours {
 public:
  Ours(const std::string& spec, const tw_shape& shape);
  ~Ours() { tw_codec_destroy(codec_); }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;

  void encode(const Bytes& values);
  void decode(Bytes& values) const;
  std::size_t frame_bytes() const { return written_; }

  // Whether the frame ends with these bytes.
  bool ends_with(const Bytes& stream, std::size_t size) const;

 private:
  tw_codec* codec_ = nullptr;
  tw_shape shape_;
  tw_message_options options_{};
  Bytes frame_;
  std::uint64_t written_ = 0;
};

// A part with a heading of its own (zfp.cpp). Every line is printed only after what was decoded was
// compared.
void compare_zfp();

}  // namespace thinwire::bench
