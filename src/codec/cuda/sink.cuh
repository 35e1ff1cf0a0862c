// Destinations of decoded values: a value is stored, or added to the one that is there and scaled.
#pragma once

#include "codec/accumulate.h"
#include "codec/cuda/any_alignment.cuh"
#include "codec/job.h"

namespace thinwire::codec::cuda {

template <Dtype kType, bool kAdding>
struct Sink {
  static constexpr Dtype kDtype = kType;
  static constexpr bool kAdds = kAdding;
  using Word = WordOf<kDtype>;

  NumberOf<kDtype> scale;

  // The value whose place `at` is, at any alignment.
  __device__ void put(std::byte* at, Word value) const {
    if (is_aligned<Word>(at)) {
      put_aligned(at, value);
      return;
    }
    if constexpr (kAdds) value = add_and_scale<kDtype>(load_bytes<Word>(at), value, scale);
    store_bytes(at, value);
  }

  // The same at a multiple of the value's size.
  __device__ void put_aligned(std::byte* at, Word value) const {
    auto* const place = reinterpret_cast<Word*>(at);
    if constexpr (kAdds) value = add_and_scale<kDtype>(*place, value, scale);
    *place = value;
  }

  // 8 bytes of values of at most 4 bytes at a multiple of 8.
  __device__ void put_aligned(std::byte* at, uint2 values) const {
    auto* const place = reinterpret_cast<uint2*>(at);
    if constexpr (kAdds) values = sums(*place, values);
    *place = values;
  }

  // 16 bytes of values at a multiple of 16.
  __device__ void put_aligned(std::byte* at, uint4 values) const {
    auto* const place = reinterpret_cast<uint4*>(at);
    if constexpr (kAdds) values = sums(*place, values);
    *place = values;
  }

  // Values to be stored, given those that are there, of a sink that adds.
  __device__ uint2 sums(uint2 there, uint2 values) const {
    static_assert(sizeof(Word) == 2 || sizeof(Word) == 4);
    return {added(there.x, values.x), added(there.y, values.y)};
  }
  __device__ uint4 sums(uint4 there, uint4 values) const {
    if constexpr (sizeof(Word) == 8) {
      const Word first =
          add_and_scale<kDtype>(whole(there.x, there.y), whole(values.x, values.y), scale);
      const Word second =
          add_and_scale<kDtype>(whole(there.z, there.w), whole(values.z, values.w), scale);
      return {static_cast<unsigned>(first), static_cast<unsigned>(first >> 32),
              static_cast<unsigned>(second), static_cast<unsigned>(second >> 32)};
    } else {
      return {added(there.x, values.x), added(there.y, values.y), added(there.z, values.z),
              added(there.w, values.w)};
    }
  }

 private:
  __device__ static Word whole(unsigned low, unsigned high) {
    return static_cast<Word>(static_cast<std::uint64_t>(high) << 32 | low);
  }

  // The values in 32 bits.
  __device__ unsigned added(unsigned there, unsigned values) const {
    if constexpr (sizeof(Word) == 4) return add_and_scale<kDtype>(there, values, scale);
    const unsigned low =
        add_and_scale<kDtype>(static_cast<Word>(there), static_cast<Word>(values), scale);
    const unsigned high = add_and_scale<kDtype>(static_cast<Word>(there >> 16),
                                                static_cast<Word>(values >> 16), scale);
    return low | high << 16;
  }
};

// Calls launch(sink) with the sink of what becomes of the job's values.
template <Dtype kDtype, typename Launch>
Status with_sink(const DecodeJob& job, Launch&& launch) {
  const auto scale = static_cast<NumberOf<kDtype>>(job.accumulate.scale);
  if (job.accumulate.adds) {
    if constexpr (is_added(kDtype)) return launch(Sink<kDtype, true>{scale});
    return {StatusCode::kUnsupported, "values of this type are not added"};
  }
  return launch(Sink<kDtype, false>{scale});
}

}  // namespace thinwire::codec::cuda
