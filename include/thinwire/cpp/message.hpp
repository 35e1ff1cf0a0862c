// Arrays to frames and back, memory to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "thinwire/cpp/codec.hpp"

namespace thinwire {

// See tw_message_options.
struct MessageOptions {
  std::uint32_t flags = 0;    // of tw_message_flag
  std::string_view job = {};  // names the job whose mark frames carry; default: the file mark
  void* stream = nullptr;     // a cudaStream_t; default: one of the library's own, which does not
                              // wait for work of yours
  double scale = 1;           // under TW_MESSAGE_ADD
  double least_ratio = 0;     // under "auto"

  // Valid as long as what `job` views.
  tw_message_options get() const {
    auto options = sized<tw_message_options>();
    options.flags = flags;
    options.job = job.data();
    options.job_bytes = job.size();
    options.stream = stream;
    options.scale = scale;
    options.least_ratio = least_ratio;
    return options;
  }
};

// Encodes the array at `source` into one frame at the start of `destination`, which has at least
// codec.bound(shape) bytes; returns the frame. Either side may be GPU memory.
inline std::span<std::byte> encode(const Codec& codec, const tw_shape& shape, const void* source,
                                   std::span<std::byte> destination,
                                   const MessageOptions& options = {}) {
  const tw_message_options given = options.get();
  std::uint64_t written = 0;
  check(tw_message_encode(codec.get(), &shape, source, destination.data(), destination.size(),
                          &given, &written));
  return destination.first(written);
}

// The frame of a range of values, in host memory, in the shape that the codec's spec names. Values
// may lie in GPU memory.
template <std::ranges::contiguous_range Values>
  requires std::ranges::sized_range<Values>
std::vector<std::byte> encode(const Codec& codec, const Values& values,
                              const MessageOptions& options = {}) {
  using T = std::remove_cv_t<std::ranges::range_value_t<Values>>;
  static_assert(std::is_trivially_copyable_v<T>);
  const std::uint64_t count = std::ranges::size(values) * dtype_elements<T>;
  const tw_shape shape = codec.shape_of(dtype_of<T>, count);
  std::vector<std::byte> frame(codec.bound(shape));
  frame.resize(encode(codec, shape, std::ranges::data(values), frame, options).size());
  return frame;
}

// Reads a frame's header. `frame` may be longer than the frame is.
inline tw_message_info inspect(std::span<const std::byte> frame,
                               const MessageOptions& options = {}) {
  const tw_message_options given = options.get();
  auto info = sized<tw_message_info>();
  check(tw_message_inspect(frame.data(), frame.size(), &given, &info));
  return info;
}

// Decodes into memory of the caller's, host or GPU, which holds inspect(frame).raw_bytes.
inline tw_message_info decode(std::span<const std::byte> frame, std::span<std::byte> destination,
                              const MessageOptions& options = {}) {
  const tw_message_options given = options.get();
  auto info = sized<tw_message_info>();
  check(tw_message_decode(frame.data(), frame.size(), destination.data(), destination.size(),
                          &given, &info));
  return info;
}

// The array as values of type T, in host memory; throws where the frame has another dtype. The size
// is what the frame's header says: look at inspect(frame).raw_bytes first if a stranger made it.
template <class T>
std::vector<T> decode(std::span<const std::byte> frame, const MessageOptions& options = {}) {
  static_assert(std::is_trivially_copyable_v<T>);
  const tw_message_info info = inspect(frame, options);
  if (info.shape.dtype != dtype_of<T> || info.raw_bytes % sizeof(T) != 0) {
    throw Error(TW_INVALID_ARGUMENT, "the frame holds elements of another type");
  }
  std::vector<T> values(info.raw_bytes / sizeof(T));
  decode(frame, std::as_writable_bytes(std::span(values)), options);
  return values;
}

}  // namespace thinwire
