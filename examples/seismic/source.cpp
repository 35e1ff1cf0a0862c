#include "source.h"

#include <array>
#include <cmath>
#include <numbers>

#include "formulas.h"

namespace seismic {
namespace {

struct Tensor {
  std::array<double, 6> moment{};  // in the order of the stresses: xx yy zz xy xz yz
};

Tensor tensor_of(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kExplosion:
      return {{1, 1, 1, 0, 0, 0}};
    case Mechanism::kStrikeSlip:
      return {{0, 0, 0, 1, 0, 0}};
    case Mechanism::kThrust:
      break;
  }
  return {{-1, 0, 1, 0, 0, 0}};
}

struct Weight {
  int offset = 0;  // of a point, from the source's
  double share = 0;
};

// A delta function on an axis, on points at whole spacings from the source, or at halves, the first
// of which after it has offset 0. Waves see one of 4th order: the second moment is zero. Even and
// odd points get one half each, so that all relaxation mechanisms have their share of a source,
// which otherwise would be that of the rock of one mechanism.
std::vector<Weight> delta(bool half) {
  if (half) return {{-2, -1.0 / 16}, {-1, 9.0 / 16}, {0, 9.0 / 16}, {1, -1.0 / 16}};
  return {{-2, -1.0 / 16}, {-1, 1.0 / 4}, {0, 5.0 / 8}, {1, 1.0 / 4}, {2, -1.0 / 16}};
}

// The shots of one field, `stress` all together.
void spread(const Extents& source, int field, double stress, const Part& part,
            std::vector<Shot>* shots) {
  for (const Weight& z : delta(field == kXz || field == kYz)) {
    for (const Weight& y : delta(field == kXy || field == kYz)) {
      for (const Weight& x : delta(field == kXy || field == kXz)) {
        const Extents point{source.x + x.offset, source.y + y.offset, source.z + z.offset};
        if (!part.owns(point)) continue;
        const double share = stress * z.share * y.share * x.share;
        shots->push_back({field, part.index_of_global(point), static_cast<float>(share)});
      }
    }
  }
}

}  // namespace

std::vector<Shot> make_shots(const Source& source, const Model& model, const Part& part) {
  std::vector<Shot> shots;
  const Tensor tensor = tensor_of(source.mechanism);
  const double volume = std::pow(model.spacing, 3);
  for (int field = kXx; field <= kYz; ++field) {
    const double moment = tensor.moment[field - kXx];
    if (moment != 0) spread(source.at, field, -source.moment * moment / volume, part, &shots);
  }
  return shots;
}

std::vector<float> moment_rate(const Model& model, int steps) {
  std::vector<float> rates;
  const double width = 0.25 / model.hertz;
  const double scale = model.time_step / (width * std::sqrt(2 * std::numbers::pi));
  for (int step = 0; step < steps; ++step) {
    const double phase = ((step + 0.5) * model.time_step - 6 * width) / width;
    rates.push_back(static_cast<float>(scale * std::exp(-0.5 * phase * phase)));
  }
  return rates;
}

}  // namespace seismic
