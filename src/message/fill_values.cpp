#include "message/fill_values.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/vector_units.h"

namespace thinwire::message {
namespace {

// Small arrays are looked at whole. Runs are shorter than those that codecs are tried on: what is
// looked at here must cost little of an encode, and cells without a value lie together.
constexpr std::uint64_t kLookBytes = 256;
constexpr std::uint64_t kLooks = 32;

constexpr int kGapExponent = 20;
constexpr int kFarExponent = 48;
constexpr std::uint64_t kFarShare = 16;
constexpr int kMostFills = 4;

template <typename Word, int kFractionBits, int kBias>
struct FloatWords {
  using Bits = Word;
  static constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  static constexpr Bits of_exponent(int exponent) {
    return static_cast<Bits>(static_cast<Bits>(exponent + kBias) << kFractionBits);
  }
  static constexpr Bits kInfinity = of_exponent(kBias + 1);
  static constexpr Bits kNearInfinity = of_exponent(kBias - 1);
  static constexpr Bits kGap = static_cast<Bits>(Bits{kGapExponent} << kFractionBits);
};
using F32 = FloatWords<std::uint32_t, 23, 127>;
using F64 = FloatWords<std::uint64_t, 52, 1023>;
using Bf16 = FloatWords<std::uint16_t, 7, 127>;

struct Magnitudes {
  std::uint64_t largest = 0, above = 0, below = 0;
};

template <typename F>
inline Magnitudes magnitudes_of(const std::byte* values, std::uint64_t count) {
  using Bits = typename F::Bits;
  constexpr Bits kHigh = F::of_exponent(kFarExponent), kLow = F::of_exponent(-kFarExponent);
  Bits largest = 0;
  std::uint64_t above = 0, below = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    const auto bits = static_cast<Bits>(load<Bits>(values + at * sizeof(Bits)) & F::kMagnitude);
    const Bits finite = bits < F::kInfinity ? bits : Bits{0};
    largest = finite > largest ? finite : largest;
    above += finite > kHigh ? 1 : 0;
    below += finite < kLow && finite != 0 ? 1 : 0;
  }
  return {largest, above, below};
}

// Whether few values of few kinds stand far above all others. Most arrays end it after a few
// values.
template <typename F>
bool few_stand_apart(const std::byte* values, std::uint64_t count, std::uint64_t largest) {
  using Bits = typename F::Bits;
  if (largest <= F::kGap) return false;
  const Bits least = static_cast<Bits>(largest - F::kGap);
  Bits kinds[kMostFills];
  int found = 0;
  bool has_others = false;
  for (std::uint64_t at = 0; at < count; ++at) {
    const Bits own = load<Bits>(values + at * sizeof(Bits));
    const auto bits = static_cast<Bits>(own & F::kMagnitude);
    if (bits >= F::kInfinity || bits == 0) continue;
    if (bits < least) {
      has_others = true;
    } else if (std::find(kinds, kinds + found, own) == kinds + found) {
      if (found == kMostFills) return false;
      kinds[found++] = own;
    }
  }
  return has_others;
}

template <typename F>
inline bool judge_values(const Magnitudes& spread, const std::byte* values, std::uint64_t count) {
  if (spread.largest >= F::kNearInfinity) return true;
  if (std::min(spread.above, spread.below) * kFarShare > count) return true;
  return few_stand_apart<F>(values, count, spread.largest);
}

THINWIRE_VECTOR_CLONES Magnitudes magnitudes_of_f32(const std::byte* values, std::uint64_t count) {
  return magnitudes_of<F32>(values, count);
}

THINWIRE_VECTOR_CLONES Magnitudes magnitudes_of_f64(const std::byte* values, std::uint64_t count) {
  return magnitudes_of<F64>(values, count);
}

}  // namespace

bool declines_fill_values_by_setting() {
  static const bool declines = [] {
    const char* const value = setting_value("THINWIRE_FILL_VALUES");
    return value == nullptr || std::string_view(value) != "code";
  }();
  return declines;
}

bool looks_for_fill_values(const Coder& coder, const codec::Chunk& array,
                           const EncodeOptions& options) {
  const codec::Codec& codec = *coder.codec;
  if (codec.lossless || !options.declines_fill_values || codec.test_only()) return false;
  if (array.dtype != Dtype::kF32 && array.dtype != Dtype::kF64 && array.dtype != Dtype::kBf16) {
    return false;
  }
  if (codec.gpu_only) return false;  // its bounds are absolute
  if (codec.each_by_itself) return false;
  return codec.open(coder.parameter) || codec.bound_of == nullptr ||
         codec.bound_of(coder.parameter) == 0;
}

Sample fill_sample(const codec::Chunk& array) {
  Sample sample{{array.dtype, Shape::line(array.shape.count())}, {}};
  const std::uint64_t runs = array.raw_bytes() / kLookBytes;
  if (runs <= kLooks) return sample;
  sample.places.count = kLooks;
  sample.places.row_bytes = kLookBytes;
  sample.array.shape.extent[0] = kLooks * kLookBytes / dtype_size(array.dtype);
  // An odd step: what returns in an array does so after even numbers most often.
  const std::uint64_t step = std::max<std::uint64_t>((runs / kLooks - 1) | 1, 1);
  const std::uint64_t first = (runs - (kLooks - 1) * step) / 2;
  for (std::uint64_t run = 0; run < kLooks; ++run) {
    sample.places.offset[run] = (first + run * step) * kLookBytes;
  }
  return sample;
}

bool would_destroy_most(const std::byte* values, Dtype dtype, std::uint64_t count) {
  if (dtype == Dtype::kF32)
    return judge_values<F32>(magnitudes_of_f32(values, count), values, count);
  if (dtype == Dtype::kF64)
    return judge_values<F64>(magnitudes_of_f64(values, count), values, count);
  return judge_values<Bf16>(magnitudes_of<Bf16>(values, count), values, count);
}

bool holds_fill_values(const codec::Chunk& array, const std::byte* source) {
  const Sample sample = fill_sample(array);
  if (sample.is_whole()) return would_destroy_most(source, array.dtype, array.shape.count());
  alignas(64) std::byte gathered[kLooks * kLookBytes];
  device::gather_on_host(sample.places, source, gathered);
  return would_destroy_most(gathered, array.dtype, sample.array.shape.count());
}

Status declined_for_fill_values(const Coder& coder) {
  const std::string name = coder.codec->name;
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) {
    log(LogLevel::kWarning,
        name +
            ": arrays go uncompressed that hold a few values far above all others, as fill values "
            "of 1e36, or values of the other byte order: the codec would destroy the rest. A bound "
            "on each value, as szp:abs=, keeps them; THINWIRE_FILL_VALUES=code encodes them");
  }
  return {StatusCode::kDeclined, name + ": a few values lie far above all others"};
}

}  // namespace thinwire::message
