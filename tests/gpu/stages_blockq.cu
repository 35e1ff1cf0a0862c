// blockq: scales, elements and values as the core has them, and as the kernels do.
#include "codec/blockq/core.h"
#include "codec/blockq/word.cuh"
#include "stages.cuh"

namespace thinwire::stages {
namespace {

using namespace codec::blockq;

// Scalars that follow from one fp32.
template <Element kElement>
struct Scalars {
  using In = std::uint32_t;
  struct Out {
    std::uint32_t scale[2];
    std::uint32_t inverse[2];
    std::uint32_t element;
    std::uint32_t drawn;
    std::uint32_t saturated[2];
  };

  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    const std::uint32_t magnitude = in & 0x7FFFFFFFu;
    for (int power = 0; power < 2; ++power) {
      const std::uint32_t largest = magnitude < kInfinityBits ? magnitude : 0;
      out.scale[power] = scale_bits<kElement>(largest, power == 1);
      out.inverse[power] = bits_of(reciprocal(float_of(out.scale[power])));
    }
    // Elements are of numbers within their range.
    const float value = float_of(in);
    const bool fits = value <= kMost<kElement> && value >= -kMost<kElement>;
    out.element = fits ? nearest<kElement>(value) & 0xFF : 0;
    out.drawn = fits ? stochastic<kElement>(value, in * 0x9E3779B9u >> 16) : 0;
    out.saturated[0] = bits_of(saturate<Dtype::kF32>(value));
    out.saturated[1] = bits_of(saturate<Dtype::kF16>(value));
  }
};

// The conversion of two at once, which the GPU has as one instruction.
struct E4m3Pairs {
  using In = std::uint32_t;
  using Out = std::uint32_t;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    const float value = float_of(in);
    const bool fits = value <= 449.0f && value >= -449.0f;
    const float low = fits ? value : 0.0f;
#if defined(__CUDA_ARCH__)
    out = nearest_e4m3_pair(low, -low);
#else
    out = e4m3_of(low) | e4m3_of(-low) << 8;
#endif
  }
};

// Numbers out of a payload word.
template <Element kElement>
struct Numbers {
  using In = std::uint64_t;
  struct Out {
    float number[kWordValues<kElement>];
  };
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
#if defined(__CUDA_ARCH__)
    to_numbers<kElement>(in, out.number);
#else
    for (int at = 0; at < kWordValues<kElement>; ++at) {
      if constexpr (kElement == Element::kInt4) {
        out.number[at] = static_cast<float>(static_cast<int>((in >> 4 * at & 15) ^ 8) - 8);
      } else if constexpr (kElement == Element::kInt8) {
        out.number[at] = static_cast<float>(static_cast<std::int8_t>(in >> 8 * at));
      } else {
        out.number[at] = float_of_e4m3(static_cast<std::uint32_t>(in >> 8 * at & 0xFF));
      }
    }
#endif
  }
};

// Floats have several zeros: bits are compared.
template <Element kElement>
struct NumberBits {
  using In = std::uint64_t;
  struct Out {
    std::uint32_t bits[kWordValues<kElement>];
  };
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    typename Numbers<kElement>::Out numbers;
    Numbers<kElement>::run(in, numbers);
    for (int at = 0; at < kWordValues<kElement>; ++at) out.bits[at] = bits_of(numbers.number[at]);
  }
};

template <Element kElement>
void compare_element(Report& report, const std::string& name,
                     const std::vector<std::uint32_t>& floats,
                     const std::vector<std::uint64_t>& words) {
  compare<Scalars<kElement>>(report, "blockq scales and elements, " + name, floats);
  compare<NumberBits<kElement>>(report, "blockq numbers, " + name, words);
}

void compare_blockq(Report& report) {
  std::mt19937_64 random(13);
  std::vector<std::uint32_t> floats;
  std::vector<std::uint64_t> words;
  for (int at = 0; at < 400000; ++at) {
    const auto bits = static_cast<std::uint32_t>(random());
    floats.push_back(bits);
    // Around where E4M3 rounds, and where integers do.
    floats.push_back((bits & 0x80000000u) | (0x38000000u + bits % 0x0C000000u));
    floats.push_back((floats.back() & 0xFFF80000u) | (at % 3 == 0 ? 0 : at % 3 == 1 ? 1 : 0x7FFFF));
    if (at % 8 == 0) words.push_back(random());
  }
  compare_element<Element::kInt8>(report, "int8", floats, words);
  compare_element<Element::kInt4>(report, "int4", floats, words);
  compare_element<Element::kE4m3>(report, "e4m3", floats, words);
  compare<E4m3Pairs>(report, "blockq e4m3 in pairs", floats);
}

const Comparison kComparison(compare_blockq);

}  // namespace
}  // namespace thinwire::stages
