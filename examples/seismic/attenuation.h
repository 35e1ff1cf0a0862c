// Attenuation by standard linear solids: a constant quality factor over a band of frequencies, from
// eight relaxation mechanisms. They are coarse-grained (Day 1998; Day and Bradley 2001): a point
// has one of the eight with eight times its weight, and a wave, longer than two points, sees their
// mean.
#pragma once

#include <array>

namespace seismic {

inline constexpr int kMechanisms = 8;

// The lowest quality factor that eight times a weight can stand for.
inline constexpr double kLowestQuality = 15;

// Relaxation times in seconds, spread evenly in their logarithm around 1 / (2 pi hertz): the band
// in which quality factors hold goes from hertz / 20 to 4 hertz.
std::array<double, kMechanisms> relaxation_times(double hertz);

struct Loss {
  // The modulus at frequency w is unrelaxed * (1 - sum of weight / (1 + i w time)).
  std::array<double, kMechanisms> weights{};
  double unrelaxed = 1;  // over density * velocity^2, of the phase velocity at `hertz`
};

// The least-squares fit of 1 / quality over the band, no weight below zero. Infinity: no loss.
Loss fit_loss(double quality, double hertz);

}  // namespace seismic
