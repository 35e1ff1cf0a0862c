// Element types and array shapes as frames carry them.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace thinwire {

// Values are on the wire for ever; never renumber.
enum class Dtype : std::uint8_t {
  kBytes = 0,  // no float type known; one element is one byte
  kF32 = 1,
  kF64 = 2,
  kF16 = 3,
  kBf16 = 4,
  kE4m3 = 5,  // 8 bits without infinities: 4 of exponent, 3 of mantissa
  kE5m2 = 6,  // the upper half of an fp16
};
inline constexpr int kDtypeCount = 7;

constexpr std::uint64_t dtype_size(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return 4;
    case Dtype::kF64:
      return 8;
    case Dtype::kF16:
    case Dtype::kBf16:
      return 2;
    case Dtype::kE4m3:
    case Dtype::kE5m2:
    case Dtype::kBytes:
      break;
  }
  return 1;
}

constexpr const char* dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return "f32";
    case Dtype::kF64:
      return "f64";
    case Dtype::kF16:
      return "f16";
    case Dtype::kBf16:
      return "bf16";
    case Dtype::kE4m3:
      return "e4m3";
    case Dtype::kE5m2:
      return "e5m2";
    case Dtype::kBytes:
      break;
  }
  return "bytes";
}

// A set of dtypes as a bit mask.
constexpr std::uint32_t dtype_bit(Dtype dtype) { return 1u << static_cast<int>(dtype); }

// Whether Thinwire adds values of that type. Bytes are no numbers, and sums of 8-bit floats are
// left to the program's own library.
constexpr bool is_added(Dtype dtype) {
  return dtype != Dtype::kBytes && dtype != Dtype::kE4m3 && dtype != Dtype::kE5m2;
}

// A dtype that is known when code is compiled, as a template's argument.
template <Dtype kDtype>
using DtypeConstant = std::integral_constant<Dtype, kDtype>;

// Returns visit(the constant that `dtype` is): one that is added.
template <typename Visit>
constexpr auto with_float_dtype(Dtype dtype, Visit&& visit) {
  switch (dtype) {
    case Dtype::kF64:
      return visit(DtypeConstant<Dtype::kF64>{});
    case Dtype::kF16:
      return visit(DtypeConstant<Dtype::kF16>{});
    case Dtype::kBf16:
      return visit(DtypeConstant<Dtype::kBf16>{});
    default:
      return visit(DtypeConstant<Dtype::kF32>{});
  }
}

// The same with the 8-bit floats too.
template <typename Visit>
constexpr auto with_any_float_dtype(Dtype dtype, Visit&& visit) {
  if (dtype == Dtype::kE4m3) return visit(DtypeConstant<Dtype::kE4m3>{});
  if (dtype == Dtype::kE5m2) return visit(DtypeConstant<Dtype::kE5m2>{});
  return with_float_dtype(dtype, visit);
}

inline constexpr int kMaxRank = 4;

// Multiplies sizes; false if 64 bits do not hold the product. In device code nvcc takes
// __builtin_mul_overflow, and leaves the product as it was.
constexpr bool multiply(std::uint64_t size, std::uint64_t by, std::uint64_t& product) {
#ifdef __CUDA_ARCH__
  if (by != 0 && size > UINT64_MAX / by) return false;
  product = size * by;
  return true;
#else
  return !__builtin_mul_overflow(size, by, &product);
#endif
}

// Extents, slowest first, all at least 1 unless the array is empty.
struct Shape {
  int rank = 1;
  std::array<std::uint64_t, kMaxRank> extent{};

  static constexpr Shape line(std::uint64_t count) {
    Shape shape;
    shape.extent[0] = count;
    return shape;
  }

  // Number of elements; 0 when the product leaves 64 bits.
  constexpr std::uint64_t count() const {
    std::uint64_t product = 1;
    for (int axis = 0; axis < rank; ++axis) {
      if (!multiply(product, extent[axis], product)) return 0;
    }
    return product;
  }

  // Whether the array exists: its bytes, `value_bytes` an element, fit 64 bits, and no extent is 0
  // but a line's.
  constexpr bool is_sound(std::uint64_t value_bytes) const {
    std::uint64_t product = value_bytes;
    for (int axis = 0; axis < rank; ++axis) {
      if (!multiply(product, extent[axis], product)) return false;
      if (extent[axis] == 0 && rank > 1) return false;
    }
    return true;
  }

  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

}  // namespace thinwire
