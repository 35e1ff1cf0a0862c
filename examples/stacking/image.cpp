#include "image.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "examples/common/values.h"

namespace stacking {
namespace {

constexpr int kLayers = 14;
constexpr double kWavelength = 0.03;  // of the wavelet's middle; the section is 1 deep
constexpr std::uint64_t kDepths = 1;  // the streams of random numbers
constexpr std::uint64_t kStrengths = 2;

struct Layer {
  double depth;
  double strength;
};

std::vector<Layer> make_layers() {
  std::vector<Layer> layers(kLayers);
  for (int at = 0; at < kLayers; ++at) {
    const double jitter = 0.6 * examples::random_number(kDepths, at);
    const double strength = 2 * examples::random_number(kStrengths, at) - 1;
    layers[at] = {(at + 0.2 + jitter) / kLayers, strength};
  }
  return layers;
}

// How much deeper than at the origin everything lies at a place with coordinates in [0, 1).
double sag_at(double along, double across) {
  const double dip = 0.08 * along - 0.05 * across;
  const double fold = 0.03 * std::sin(5 * along + 2 * across);
  const double fault = along + 0.3 * across > 0.6 ? 0.04 : 0;
  return dip + fold + fault;
}

double ricker(double distance) {
  const double phase = 3.14159265358979 * distance / kWavelength;
  return (1 - 2 * phase * phase) * std::exp(-phase * phase);
}

void fill_trace(const std::vector<Layer>& layers, double sag, std::size_t depths, float* trace) {
  for (std::size_t at = 0; at < depths; ++at) {
    const double depth = static_cast<double>(at) / static_cast<double>(depths);
    double value = 0;
    for (const Layer& layer : layers) {
      const double distance = depth - layer.depth - sag;
      if (std::abs(distance) < 2 * kWavelength) value += layer.strength * ricker(distance);
    }
    trace[at] = static_cast<float>(value);
  }
}

}  // namespace

std::vector<float> make_section(const std::vector<std::size_t>& shape) {
  const std::size_t depths = shape.back();
  const std::size_t along = shape.size() > 1 ? shape[0] : 1;
  std::size_t across = 1;
  for (std::size_t axis = 1; axis + 1 < shape.size(); ++axis) across *= shape[axis];
  const std::vector<Layer> layers = make_layers();
  std::vector<float> section(along * across * depths);
  float* trace = section.data();
  for (std::size_t x = 0; x < along; ++x) {
    for (std::size_t y = 0; y < across; ++y, trace += depths) {
      const double sag = sag_at(static_cast<double>(x) / static_cast<double>(along),
                                static_cast<double>(y) / static_cast<double>(across));
      fill_trace(layers, sag, depths, trace);
    }
  }
  return section;
}

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

std::size_t values_of(const Options& options) {
  std::size_t product = 1;
  for (const std::size_t extent : options.shape) product *= extent;
  return product;
}

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
