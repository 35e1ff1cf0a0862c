// The ground: rocks, where they lie, and what the steps need of them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "formulas.h"
#include "part.h"

namespace seismic {

// Attenuation by standard linear solids: a constant quality factor over a band of frequencies, from
// eight relaxation mechanisms. They are coarse-grained (Day 1998; Day and Bradley 2001): a point
// has one of the eight with eight times its weight, and a wave, longer than two points, sees their
// mean.

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

// Places of the rocks, on the CPU and on a GPU, and their coefficients of a step.

enum class Medium {
  kBasin,    // a bowl of layered sediments in layered bedrock
  kUniform,  // one rock
};

inline constexpr int kRocks = 6;  // at most, of a medium

// As formulas.h, Rock, has them; losses by mechanism().
struct Coefficients {
  float buoyancy;
  float p_modulus;
  float compliance;
  float p_loss[kMechanisms];
  float s_loss[kMechanisms];
};

struct RockTable {
  Coefficients rock[kRocks];
};

// The arrays of a part with its halos, as Part::index() has them.
struct RockArrays {
  float* buoyancy;
  float* p_modulus;
  float* compliance;
  float* p_loss;
  float* s_loss;
};

// Which of the basin's rocks, from soft to hard; coordinates are shares of the grid.
SEISMIC_HOST_DEVICE int basin_rock(double east, double north, double down) {
  const double a = (east - 0.5) / 0.38;
  const double b = (north - 0.45) / 0.34;
  const double bowl = 1 - a * a - b * b;  // above zero inside the basin's rim
  const double floor = bowl > 0 ? 0.4 * std::sqrt(bowl) : 0;
  if (down < floor) return down < 0.08 ? 0 : down < 0.2 ? 1 : 2;
  // Bedrock dips to the east.
  const double depth = down - 0.1 * (east - 0.5);
  return depth < 0.3 ? 3 : depth < 0.65 ? 4 : 5;
}

SEISMIC_HOST_DEVICE double share_of_axis(int at, int points) {
  const int inside = at < 0 ? 0 : at < points ? at : points - 1;
  return inside / static_cast<double>(points);
}

// At a global point; outside of the grid the rock of its rim goes on.
SEISMIC_HOST_DEVICE int rock_at(Medium medium, const Extents& grid, const Extents& point) {
  if (medium == Medium::kUniform) return 0;
  return basin_rock(share_of_axis(point.x, grid.x), share_of_axis(point.y, grid.y),
                    share_of_axis(point.z, grid.z));
}

SEISMIC_HOST_DEVICE void lay_rock(const RockTable& table, Medium medium, const Extents& grid,
                                  const Extents& point, std::ptrdiff_t at,
                                  const RockArrays& arrays) {
  const Coefficients& rock = table.rock[rock_at(medium, grid, point)];
  const int own = mechanism(point.x, point.y, point.z);
  arrays.buoyancy[at] = rock.buoyancy;
  arrays.p_modulus[at] = rock.p_modulus;
  arrays.compliance[at] = rock.compliance;
  arrays.p_loss[at] = rock.p_loss[own];
  arrays.s_loss[at] = rock.s_loss[own];
}

struct Model {
  Medium medium = Medium::kBasin;
  bool attenuates = true;
  double spacing = 100;  // metres
  double time_step = 0;  // seconds
  double hertz = 0;  // of the source: where velocities hold and the band of quality factors lies
  int sponge = 20;   // points at each absorbing side
  bool free_surface = true;  // the top; otherwise it absorbs
};

// Over all rocks of a medium, metres per second.
double fastest(Medium medium);
double slowest(Medium medium);

// The largest time step that is stable, in seconds.
double stable_time_step(const Model& model);

// Makes the table of what the rocks of a model do in a step, in the order of rock_at().
RockTable make_rock_table(const Model& model);

// The share of its memory variable that a point keeps in a step, by mechanism().
std::vector<float> kept_shares(const Model& model);

// Cerjan's sponge: factors of the owned points along each axis. A point's is the product of three.
struct Sponge {
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> z;
};
Sponge make_sponge(const Model& model, const Part& part);

}  // namespace seismic
