// The ground: rocks, where they lie, and what the steps need of them.
#pragma once

#include <vector>

#include "part.h"
#include "rocks.h"

namespace seismic {

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

// Makes the table of what the rocks of a model do in a step, in the order of rock_at() (rocks.h).
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
