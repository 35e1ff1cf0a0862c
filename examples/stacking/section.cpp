#include "section.h"

#include <cmath>

#include "examples/common/random.h"

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

}  // namespace stacking
