// Vectors of the host's loops over blocks side by side. The compiler makes of each operation as
// many instructions as the function's vector unit takes; the values are the same with any.
#pragma once

#include <cstdint>

#include "codec/zfp/transform.h"

namespace thinwire::codec::zfp {

inline constexpr int kVectorBytes = 32;

// As many values as kVectorBytes hold.
template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
  // The same at any address in memory of any type.
  typedef T InMemory __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;

// No memcpy(), of which compilers make moves of half a vector, and a load of the whole then waits
// for both.
template <typename T>
inline void load_vector(const void* from, Vector<T>& to) {
  to = *static_cast<const typename VectorOf<T>::InMemory*>(from);
}

template <typename T>
inline void store_vector(void* to, const Vector<T>& from) {
  *static_cast<typename VectorOf<T>::InMemory*>(to) = from;
}

// Loads words and leaves zeros.
inline void take_vector(void* from, Vector<std::uint32_t>& to) {
  load_vector<std::uint32_t>(from, to);
  store_vector<std::uint32_t>(from, Vector<std::uint32_t>{});
}

// Lanes a and b by index, b's from the number of lanes on.
#if defined(__clang__) || __GNUC__ >= 12
#define THINWIRE_ZFP_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define THINWIRE_ZFP_SHUFFLE_8 THINWIRE_ZFP_SHUFFLE
#else
#define THINWIRE_ZFP_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, Vector<std::int64_t>{__VA_ARGS__})
#define THINWIRE_ZFP_SHUFFLE_8(a, b, ...) __builtin_shuffle(a, b, Vector<std::int32_t>{__VA_ARGS__})
#endif

// Rows of four 64-bit values to columns; its own inverse.
template <typename T>
inline void transpose_fours(Vector<T> (&row)[4]) {
  static_assert(sizeof(T) == 8);
  const Vector<T> a = THINWIRE_ZFP_SHUFFLE(row[0], row[1], 0, 4, 2, 6);
  const Vector<T> b = THINWIRE_ZFP_SHUFFLE(row[0], row[1], 1, 5, 3, 7);
  const Vector<T> c = THINWIRE_ZFP_SHUFFLE(row[2], row[3], 0, 4, 2, 6);
  const Vector<T> d = THINWIRE_ZFP_SHUFFLE(row[2], row[3], 1, 5, 3, 7);
  row[0] = THINWIRE_ZFP_SHUFFLE(a, c, 0, 1, 4, 5);
  row[1] = THINWIRE_ZFP_SHUFFLE(b, d, 0, 1, 4, 5);
  row[2] = THINWIRE_ZFP_SHUFFLE(a, c, 2, 3, 6, 7);
  row[3] = THINWIRE_ZFP_SHUFFLE(b, d, 2, 3, 6, 7);
}

// A vector of words as transform.h takes one. Of 32 bits alone: few vector units shift 64 bits and
// keep the sign, and compilers find the better way around that in loops.
struct VectorWord {
  Vector<std::uint32_t> lanes;

  VectorWord& operator+=(const VectorWord& other) {
    lanes += other.lanes;
    return *this;
  }
  VectorWord& operator-=(const VectorWord& other) {
    lanes -= other.lanes;
    return *this;
  }
  friend VectorWord operator+(const VectorWord& a, const VectorWord& b) {
    return {a.lanes + b.lanes};
  }
  friend VectorWord operator-(const VectorWord& a, const VectorWord& b) {
    return {a.lanes - b.lanes};
  }
  // Multiplies by 2 alone, as the transform does.
  friend VectorWord operator*(int, const VectorWord& a) { return {a.lanes + a.lanes}; }
};

template <>
constexpr VectorWord halve(VectorWord value) {
  return {(Vector<std::uint32_t>)((Vector<std::int32_t>)value.lanes >> 1)};
}

}  // namespace thinwire::codec::zfp
