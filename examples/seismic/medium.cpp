#include "medium.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "formulas.h"

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

namespace {

struct RockType {
  double vp;  // metres per second, phase velocities at the source's frequency
  double vs;
  double density;  // kilograms per cubic metre
  double qp;
  double qs;
};

// Soft to hard; quality factors of S waves are vs / 20, of P waves twice that, as is usual.
constexpr std::array<RockType, kRocks> kBasinRocks = {{
    {1700, 600, 1900, 60, 30},
    {2300, 1000, 2100, 100, 50},
    {3000, 1500, 2250, 150, 75},
    {4200, 2400, 2450, 240, 120},
    {5300, 3060, 2650, 306, 153},
    {6000, 3460, 2750, 346, 173},
}};
constexpr std::array<RockType, 1> kUniformRock = {{{4000, 2310, 2500, 100, 50}}};

struct Rocks {
  const RockType* types;
  int count;
};

Rocks rocks_of(Medium medium) {
  if (medium == Medium::kUniform) return {kUniformRock.data(), 1};
  return {kBasinRocks.data(), static_cast<int>(kBasinRocks.size())};
}

Coefficients coefficients(const Model& model, const RockType& rock) {
  const double infinite = std::numeric_limits<double>::infinity();
  const Loss p = fit_loss(model.attenuates ? rock.qp : infinite, model.hertz);
  const Loss s = fit_loss(model.attenuates ? rock.qs : infinite, model.hertz);
  const double scale = model.time_step / model.spacing;
  const auto times = relaxation_times(model.hertz);
  Coefficients made{};
  made.buoyancy = static_cast<float>(scale / rock.density);
  made.p_modulus = static_cast<float>(scale * rock.density * rock.vp * rock.vp * p.unrelaxed);
  made.compliance =
      static_cast<float>(1 / (scale * rock.density * rock.vs * rock.vs * s.unrelaxed));
  for (int m = 0; m < kMechanisms; ++m) {
    // Solves dt dr/dt = -(r + weight * elastic) dt / time, r at the middle of the step.
    const double taken = kMechanisms * 2 * model.time_step / (2 * times[m] + model.time_step);
    made.p_loss[m] = static_cast<float>(taken * p.weights[m]);
    made.s_loss[m] = static_cast<float>(taken * s.weights[m]);
  }
  return made;
}

std::vector<float> axis(int width, int first, int own, int extent, bool at_begin) {
  std::vector<float> factors(own, 1.0F);
  for (int i = 0; i < own; ++i) {
    const int global = first + i;
    const int from_edge = at_begin ? std::min(global, extent - 1 - global) : extent - 1 - global;
    if (from_edge >= width) continue;
    const double inward = 0.3 * (width - from_edge) / width;
    factors[i] = static_cast<float>(std::exp(-inward * inward));
  }
  return factors;
}

}  // namespace

double fastest(Medium medium) {
  const Rocks rocks = rocks_of(medium);
  return rocks.types[rocks.count - 1].vp;
}

double slowest(Medium medium) { return rocks_of(medium).types[0].vs; }

double stable_time_step(const Model& model) {
  double speed = 0;  // of the unrelaxed modulus, which the steps see
  const Rocks rocks = rocks_of(model.medium);
  for (int i = 0; i < rocks.count; ++i) {
    const double infinite = std::numeric_limits<double>::infinity();
    const Loss loss = fit_loss(model.attenuates ? rocks.types[i].qp : infinite, model.hertz);
    speed = std::max(speed, rocks.types[i].vp * std::sqrt(loss.unrelaxed));
  }
  const double weights = 9.0 / 8.0 + 1.0 / 24.0;
  return model.spacing / (std::sqrt(3.0) * weights * speed);
}

RockTable make_rock_table(const Model& model) {
  RockTable table{};
  const Rocks rocks = rocks_of(model.medium);
  for (int i = 0; i < rocks.count; ++i) table.rock[i] = coefficients(model, rocks.types[i]);
  return table;
}

std::vector<float> kept_shares(const Model& model) {
  std::vector<float> shares;
  for (const double time : relaxation_times(model.hertz)) {
    shares.push_back(
        static_cast<float>((2 * time - model.time_step) / (2 * time + model.time_step)));
  }
  return shares;
}

Sponge make_sponge(const Model& model, const Part& part) {
  const int width = model.sponge;
  return {axis(width, part.first.x, part.own.x, part.grid.x, true),
          axis(width, part.first.y, part.own.y, part.grid.y, true),
          axis(width, part.first.z, part.own.z, part.grid.z, !model.free_surface)};
}

}  // namespace seismic
