#include "image.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "examples/common/float_file.h"
#include "examples/common/random.h"
#include "section.h"

namespace stacking {
namespace {

// Share of an image's part at either end where it fades out.
constexpr double kTaper = 0.1;

std::vector<float> read_section(const std::string& path, std::size_t size) {
  std::vector<float> values = examples::read_floats<float>(path, size);
  const std::size_t own = values.size();
  values.resize(size);
  for (std::size_t at = own; at < size; ++at) values[at] = values[at - own];
  return values;
}

// Mean 0, variance 1, nearly normal: the sum of four uniform numbers. Sums and products alone, so
// that every machine makes the same.
float noise_at(std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t bits = examples::random_bits(stream, index);
  std::int64_t sum = 0;
  for (int part = 0; part < 4; ++part) {
    sum += static_cast<std::int64_t>((bits >> (16 * part)) & 0xFFFF) - 0x8000;
  }
  constexpr float kScale = 1.7320508F / 0x1p16F;
  return static_cast<float>(sum) * kScale;
}

}  // namespace

Images::Images(const Options& options, int ranks)
    : section_(options.image.empty() ? make_section(options.shape)
                                     : read_section(options.image, values_of(options))),
      slices_(options.shape.front()),
      slice_size_(section_.size() / options.shape.front()),
      ranks_(ranks),
      aperture_(options.aperture) {
  const auto [least, most] = std::minmax_element(section_.begin(), section_.end());
  noise_ = static_cast<float>(options.noise * (static_cast<double>(*most) - *least));
}

void Images::read(int rank, std::size_t first, std::size_t count, float* values) const {
  for (std::size_t at = 0; at < count;) {
    const std::size_t slice = (first + at) / slice_size_;
    const std::size_t end = std::min(count, (slice + 1) * slice_size_ - first);
    const float weight = weight_of(rank, slice);
    for (; at < end; ++at) {
      const float noise = noise_ == 0 ? 0 : noise_ * noise_at(rank, first + at);
      values[at] = weight * (section_[first + at] + noise);
    }
  }
}

// Each rank sees a window of the slowest axis, the first rank the beginning, the last the end.
float Images::weight_of(int rank, std::size_t slice) const {
  if (aperture_ >= 1) return 1;
  const double start = ranks_ > 1 ? rank * (1 - aperture_) / (ranks_ - 1) : 0;
  const double place = (static_cast<double>(slice) + 0.5) / static_cast<double>(slices_);
  const double inside = (place - start) / aperture_;
  const double from_edge = std::min(inside, 1 - inside);
  return static_cast<float>(std::clamp(from_edge / kTaper, 0.0, 1.0));
}

}  // namespace stacking
