#include "options.h"

#include <algorithm>
#include <limits>

namespace seismic {
namespace {

constexpr int kLeast = 8;  // points along an axis
constexpr int kMost = 1 << 16;
constexpr double kPointsOfWavelength = 12;

Extents extents_of(const std::vector<std::size_t>& slowest_first) {
  return {static_cast<int>(slowest_first[2]), static_cast<int>(slowest_first[1]),
          static_cast<int>(slowest_first[0])};
}

bool three_up_to(const std::vector<std::size_t>& extents, std::size_t most) {
  return extents.size() == 3 && *std::max_element(extents.begin(), extents.end()) <= most;
}

std::string written(const std::vector<std::size_t>& extents) {
  std::string text;
  for (const std::size_t extent : extents) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text;
}

bool check_source(const Options& options, std::string* error) {
  const Extents grid = grid_of(options);
  if (!three_up_to(options.source, kMost)) {
    *error = "--source takes three coordinates, as 20x48x48";
    return false;
  }
  const Extents at = source_of(options).at;
  const auto off = [](int at, int points) { return at >= points; };
  const auto near = [](int at, int points) { return at < kSpread || at >= points - kSpread; };
  if (off(at.x, grid.x) || off(at.y, grid.y) || off(at.z, grid.z)) {
    *error = "the source at " + written(options.source) + " lies outside of the grid, " +
             written(options.grid) + " points counted from 0";
  } else if (near(at.x, grid.x) || near(at.y, grid.y) || near(at.z, grid.z)) {
    *error = "the source must lie at least 2 points inside of the grid";
  } else if (options.free_top && at.z <= kSpread) {
    *error = "the source must lie at least 3 points below the free surface";
  }
  return error->empty();
}

}  // namespace

examples::CommandLine command_line(Options* options) {
  constexpr int kAny = std::numeric_limits<int>::max();
  examples::CommandLine line;
  line.shape("--grid", &options->grid);
  line.shape("--split", &options->split);
  line.integer("--steps", 1, kAny, &options->steps);
  line.number("--spacing", 1e-3, &options->spacing);
  line.number("--courant", 1e-3, &options->courant);
  line.number("--hertz", 0, &options->hertz);
  line.choice<Medium>("--medium", {{"basin", Medium::kBasin}, {"uniform", Medium::kUniform}},
                      &options->medium);
  line.flag("--elastic", &options->elastic);
  line.choice<bool>("--top", {{"free", true}, {"absorbing", false}}, &options->free_top);
  line.integer("--sponge", 0, kMost, &options->sponge);
  line.choice<Mechanism>("--mechanism",
                         {{"explosion", Mechanism::kExplosion},
                          {"strike-slip", Mechanism::kStrikeSlip},
                          {"thrust", Mechanism::kThrust}},
                         &options->mechanism);
  line.shape("--source", &options->source);
  line.number("--moment", 1, &options->moment);
  line.flag("--overlap", &options->overlap);
  line.text("--receivers", "FILE", &options->receivers);
  line.text("--seismograms", "FILE", &options->seismograms);
  line.text("--reference", "FILE", &options->reference);
  line.text("--step-times", "FILE", &options->step_times);
  line.flag("--bench", &options->bench);
  line.flag("--json", &options->json);
  examples::add_device_options(&line, &options->device);
  return line;
}

bool check(const Options& options, std::string* error) {
  const auto& grid = options.grid;
  if (!three_up_to(grid, kMost) || *std::min_element(grid.begin(), grid.end()) < kLeast) {
    *error = "--grid takes three extents from 8 to 65536 points";
  } else if (!options.split.empty() && !three_up_to(options.split, kMost)) {
    *error = "--split takes three numbers of ranks, along z, y and x, as 1x2x2";
  } else if (options.courant > 1) {
    *error = "--courant above 1 is not stable";
  } else if (!options.source.empty()) {
    check_source(options, error);
  }
  return error->empty() && check_device_options(options.device, error);
}

Extents grid_of(const Options& options) { return extents_of(options.grid); }

Extents split_of(const Options& options) {
  return options.split.empty() ? Extents{} : extents_of(options.split);
}

Model model_of(const Options& options) {
  Model model{.medium = options.medium,
              .attenuates = !options.elastic,
              .spacing = options.spacing,
              .hertz = options.hertz,
              .sponge = options.sponge,
              .free_surface = options.free_top};
  if (model.hertz == 0) {
    model.hertz = slowest(model.medium) / (kPointsOfWavelength * model.spacing);
  }
  model.time_step = options.courant * stable_time_step(model);
  return model;
}

Source source_of(const Options& options) {
  const Extents grid = grid_of(options);
  const Extents middle{grid.x / 2, grid.y / 2, grid.z / 2};
  return {options.mechanism, options.source.empty() ? middle : extents_of(options.source),
          options.moment};
}

}  // namespace seismic
