#include "attenuation.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace seismic {
namespace {

constexpr double kBelow = 20;  // the band, around the frequency
constexpr double kAbove = 4;
constexpr int kSamples = 64;
constexpr int kSweeps = 2000;

double radians(double hertz) { return 2 * std::numbers::pi * hertz; }

// 1/quality = (sum of w i t / (1 + w^2 t^2)) / (1 - sum of w / (1 + w^2 t^2)), which is linear in
// the weights once it is multiplied out: a row for each frequency, whose right side is 1.
std::vector<std::array<double, kMechanisms>> equations(double quality, double hertz) {
  const auto times = relaxation_times(hertz);
  std::vector<std::array<double, kMechanisms>> rows(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    const double share = static_cast<double>(i) / (kSamples - 1);
    const double omega = radians(hertz) / kBelow * std::pow(kBelow * kAbove, share);
    for (int m = 0; m < kMechanisms; ++m) {
      const double phase = omega * times[m];
      rows[i][m] = (phase * quality + 1) / (1 + phase * phase);
    }
  }
  return rows;
}

}  // namespace

std::array<double, kMechanisms> relaxation_times(double hertz) {
  std::array<double, kMechanisms> times{};
  const double shortest = 1 / (radians(hertz) * 2 * kAbove);
  const double longest = 2 * kBelow / radians(hertz);
  for (int m = 0; m < kMechanisms; ++m) {
    times[m] = shortest * std::pow(longest / shortest, m / (kMechanisms - 1.0));
  }
  return times;
}

Loss fit_loss(double quality, double hertz) {
  Loss loss;
  if (std::isinf(quality)) return loss;
  const auto rows = equations(quality, hertz);
  // Coordinate descent: each weight in turn is the best one for what the others leave.
  std::vector<double> left(kSamples, 1.0);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int m = 0; m < kMechanisms; ++m) {
      double gain = 0;
      double norm = 0;
      for (int i = 0; i < kSamples; ++i) {
        gain += rows[i][m] * left[i];
        norm += rows[i][m] * rows[i][m];
      }
      const double change = std::max(gain / norm, -loss.weights[m]);
      loss.weights[m] += change;
      for (int i = 0; i < kSamples; ++i) left[i] -= change * rows[i][m];
    }
  }
  const auto times = relaxation_times(hertz);
  std::complex<double> modulus = 1;
  for (int m = 0; m < kMechanisms; ++m) {
    modulus -= loss.weights[m] / std::complex<double>(1, radians(hertz) * times[m]);
  }
  loss.unrelaxed = std::pow((1.0 / std::sqrt(modulus)).real(), 2);
  return loss;
}

}  // namespace seismic
