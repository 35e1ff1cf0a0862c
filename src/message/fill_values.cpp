#include "message/fill_values.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/settings.h"
#include "message/apart.h"

namespace thinwire::message {
namespace {

// Small arrays are looked at whole. Runs are shorter than those that codecs are tried on: what is
// looked at here must cost little of an encode, and cells without a value lie together.
constexpr std::uint64_t kLookBytes = 256;
constexpr std::uint64_t kLooks = 32;

// One of so many values must lie far off on either side.
constexpr std::uint64_t kFarShare = 16;

// The same on all machines: both ends of a message, and CPU and GPU, look at the same places.
std::uint64_t drawn_place(std::uint64_t look) {
  std::uint64_t bits = (look + 1) * 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

template <Dtype kDtype>
bool judge_values(const std::byte* values, std::uint64_t count) {
  using F = FloatWordsOf<kDtype>;
  const Magnitudes spread = magnitudes_of(kDtype, values, count);
  if (spread.largest >= F::kNearInfinity) return true;
  if (std::min(spread.above, spread.below) * kFarShare > count) return true;
  const auto apart = find_apart<F>(values, count, spread.largest);
  return apart.is_few && apart.has_others;
}

// Leaves the values out that are `fill`; returns how many are left.
template <typename Word>
std::uint64_t leave_out(Word fill, std::byte* values, std::uint64_t count) {
  std::uint64_t left = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    const auto word = load<Word>(values + at * sizeof(Word));
    store(values + left * sizeof(Word), word);
    left += word == fill ? 0 : 1;
  }
  return left;
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
  if (!has_magnitudes(array.dtype)) return false;
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
  // One in each of as many parts, anywhere in it: rows of a field would be met at the same columns
  // by any fixed step that their length divides.
  const std::uint64_t part = runs / kLooks;
  for (std::uint64_t look = 0; look < kLooks; ++look) {
    sample.places.offset[look] = (look * part + drawn_place(look) % part) * kLookBytes;
  }
  return sample;
}

bool would_destroy_most(const std::byte* values, Dtype dtype, std::uint64_t count) {
  if (dtype == Dtype::kF32) return judge_values<Dtype::kF32>(values, count);
  if (dtype == Dtype::kF64) return judge_values<Dtype::kF64>(values, count);
  return judge_values<Dtype::kBf16>(values, count);
}

bool destroys_most_besides(const codec::Chunk& sample, std::byte* values,
                           const std::optional<std::uint64_t>& fill) {
  std::uint64_t count = sample.shape.count();
  if (fill) {
    count = with_float_dtype(sample.dtype, [&](auto kDtype) {
      return leave_out(static_cast<WordOf<kDtype>>(*fill), values, count);
    });
  }
  return would_destroy_most(values, sample.dtype, count);
}

bool holds_fill_values(const codec::Chunk& array, const std::byte* source,
                       const std::optional<std::uint64_t>& fill) {
  const Sample sample = fill_sample(array);
  if (sample.is_whole() && !fill) {
    return would_destroy_most(source, array.dtype, sample.array.shape.count());
  }
  alignas(64) std::byte gathered[(kLooks + 1) * kLookBytes];
  if (sample.is_whole()) {
    std::memcpy(gathered, source, array.raw_bytes());
  } else {
    device::gather_on_host(sample.places, source, gathered);
  }
  return destroys_most_besides(sample.array, gathered, fill);
}

Status declined_for_fill_values(const Coder& coder) {
  const std::string name = coder.codec->name;
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) {
    log(LogLevel::kWarning,
        name +
            ": arrays go uncompressed that hold a few values far above all others, as fill values "
            "of 1e36, or values of the other byte order: the codec would destroy the rest. A bound "
            "on each value, as szp:abs=, keeps them; fill=auto codes around them; "
            "THINWIRE_FILL_VALUES=code encodes them");
  }
  return {StatusCode::kDeclined, name + ": a few values lie far above all others"};
}

}  // namespace thinwire::message
