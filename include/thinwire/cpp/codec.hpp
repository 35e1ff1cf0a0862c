// A parsed codec spec, and the types and shapes of arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "thinwire/cpp/error.hpp"

namespace thinwire {

// The tw_dtype of an element type: float and double have one, all others count as bytes, which no
// codec but "raw" and some of nvCOMP's takes. Specialise it for a 16-bit float type of your own:
//   template <> inline constexpr tw_dtype thinwire::dtype_of<half> = TW_F16;
template <class T>
inline constexpr tw_dtype dtype_of = TW_BYTES;
template <>
inline constexpr tw_dtype dtype_of<float> = TW_F32;
template <>
inline constexpr tw_dtype dtype_of<double> = TW_F64;

// How many elements of type T stand for one of its dtype: a T that has no dtype counts as bytes.
template <class T>
inline constexpr std::uint64_t dtype_elements = dtype_of<T> == TW_BYTES ? sizeof(T) : 1;

// One to four extents, slowest first.
inline tw_shape make_shape(tw_dtype dtype, std::initializer_list<std::uint64_t> extents) {
  if (extents.size() < 1 || extents.size() > 4) {
    throw Error(TW_INVALID_ARGUMENT, "a shape has one to four extents");
  }
  tw_shape shape{};
  shape.dtype = dtype;
  shape.rank = static_cast<std::uint32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), shape.extent);
  return shape;
}

class Codec {
 public:
  explicit Codec(const std::string& spec) {
    tw_codec* made = nullptr;
    check(tw_codec_create(spec.c_str(), &made));
    handle_.reset(made);
  }

  const tw_codec* get() const noexcept { return handle_.get(); }

  // The spec in its normal form; valid as long as the codec.
  std::string_view spec() const { return tw_codec_spec(get()); }

  // The shape in which `count` elements are coded, see tw_codec_shape().
  tw_shape shape_of(tw_dtype dtype, std::uint64_t count) const {
    tw_shape shape{};
    check(tw_codec_shape(get(), dtype, count, &shape));
    return shape;
  }

  // Most bytes that a frame of such an array can take.
  std::uint64_t bound(const tw_shape& shape) const {
    std::uint64_t bytes = 0;
    check(tw_message_bound(get(), &shape, &bytes));
    return bytes;
  }

 private:
  struct Destroy {
    void operator()(tw_codec* codec) const { tw_codec_destroy(codec); }
  };
  std::unique_ptr<tw_codec, Destroy> handle_;
};

}  // namespace thinwire
