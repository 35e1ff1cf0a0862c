#include "codec/nvcomp/engine.h"

#include <bit>
#include <cmath>

namespace thinwire::codec::nvcomp {
namespace {

// nvCOMP's numbers of data types.
enum Type : std::int32_t {
  kChar = 0,
  kUnsigned8 = 1,
  kUnsigned16 = 3,
  kUnsigned32 = 5,
  kUnsigned64 = 7,
  kFloat16 = 10,
  kFloat32 = 11,
  kFloat64 = 12,
};

// The implementations for CUDA cores: the decompression engine does not check its input.
constexpr std::int32_t kCudaBackend = 2;

struct AnsEncode {
  std::int32_t algorithm, type;
  std::uint8_t zeros[56];
};
struct AnsDecode {
  std::int32_t backend, type;
  std::uint8_t zeros[56];
};
struct BitcompEncode {
  std::int32_t algorithm, type;
  double step;
  std::int32_t mode;  // 0 lossless, 1 quantised to signed integers
  std::uint8_t zeros[44];
};
struct CascadedEncode {
  std::int32_t type, mode;
  std::uint64_t terminal, coarse, fine;
  std::uint8_t level;
  std::uint8_t zeros[31];
};
struct CascadedDecode {
  std::int32_t backend, unused, type, mode;
  std::uint64_t terminal, coarse;
  std::uint8_t zeros[32];
};
struct Lz4Encode {
  std::int32_t type, shuffle;
  std::uint8_t zeros[56];
};
struct Lz4Decode {
  std::int32_t backend, sorts, type, shuffle;
  std::uint8_t zeros[48];
};
struct BitcompDecode {
  std::int32_t backend;
  std::uint8_t zeros[60];
};

// ANS knows the exponents of halves, brain floats among them, and of fp32.
Type ans_type(Dtype dtype) {
  if (dtype == Dtype::kF32) return kFloat32;
  return dtype_size(dtype) == 2 ? kFloat16 : kChar;
}

Type word_type(Dtype dtype) {
  constexpr Type kBySizeLog[] = {kUnsigned8, kUnsigned16, kUnsigned32, kUnsigned64};
  return kBySizeLog[std::countr_zero(dtype_size(dtype))];
}

Type float_type(Dtype dtype) {
  if (dtype == Dtype::kF64) return kFloat64;
  return dtype == Dtype::kF32 ? kFloat32 : kFloat16;
}

constexpr std::int32_t kAsymmetric = 1;
constexpr std::int32_t kSymmetric = 2;
constexpr std::uint64_t kBitPacking = 1;
constexpr std::uint64_t kEveryEncoding = 7;

// The faster mode takes words of 32 and 64 bits only.
std::int32_t cascaded_mode(Dtype dtype) {
  return dtype_size(dtype) >= 4 ? kSymmetric : kAsymmetric;
}

template <typename Layout>
Options options_of(const Layout& layout) {
  static_assert(sizeof(Layout) == sizeof(Options));
  return std::bit_cast<Options>(layout);
}

}  // namespace

Options encode_options(const Row& row, const Settings& settings, Dtype dtype) {
  switch (row.engine) {
    case Engine::kAns:
      return options_of(AnsEncode{0, ans_type(dtype), {}});
    case Engine::kBitcomp:
      if (settings.lossy) {
        const double step = std::ldexp(1.0, settings.exponent);
        return options_of(BitcompEncode{settings.algorithm, float_type(dtype), step, 1, {}});
      }
      return options_of(BitcompEncode{settings.algorithm, word_type(dtype), 0, 0, {}});
    case Engine::kCascaded:
      return options_of(CascadedEncode{
          word_type(dtype), cascaded_mode(dtype), kBitPacking, 0, kEveryEncoding, 3, {}});
    case Engine::kLz4:
      break;
  }
  return options_of(Lz4Encode{kChar, 0, {}});
}

Options decode_options(const Row& row, const Settings&, Dtype dtype) {
  switch (row.engine) {
    case Engine::kAns:
      return options_of(AnsDecode{kCudaBackend, ans_type(dtype), {}});
    case Engine::kBitcomp:
      return options_of(BitcompDecode{kCudaBackend, {}});
    case Engine::kCascaded:
      return options_of(CascadedDecode{
          kCudaBackend, 0, word_type(dtype), cascaded_mode(dtype), kBitPacking, 0, {}});
    case Engine::kLz4:
      break;
  }
  return options_of(Lz4Decode{kCudaBackend, 0, kChar, 0, {}});
}

}  // namespace thinwire::codec::nvcomp
