// The command line of the seismic program.
#pragma once

#include <string>
#include <vector>

#include "examples/common/command_line.h"
#include "examples/common/program.h"
#include "medium.h"
#include "part.h"
#include "survey.h"

namespace seismic {

struct Options {
  std::vector<std::size_t> grid{96, 96, 96};  // z, y, x
  std::vector<std::size_t> split;             // ranks along z, y, x; none: the program chooses
  int steps = 200;
  double spacing = 100;  // metres
  double courant = 0.9;  // the time step as a share of the largest stable one
  double hertz = 0;      // of the source; 0: twelve points a wavelength in the slowest rock
  Medium medium = Medium::kBasin;
  bool elastic = false;  // no attenuation
  bool free_top = true;
  int sponge = 20;  // points
  Mechanism mechanism = Mechanism::kThrust;
  std::vector<std::size_t> source;  // z, y, x, a grid point, counted from 0; none: in the middle
  double moment = 1e16;             // newton metres
  bool overlap = false;             // points that need no halo are updated while halos travel
  std::string receivers;            // files
  std::string seismograms;
  std::string reference;
  std::string step_times;
  bool bench = false;  // the updates alone
  bool json = false;
  examples::DeviceOptions device;
};

// The options as a table that writes to `options`.
examples::CommandLine command_line(Options* options);

// Checks what the table cannot hold. On failure `error` holds a sentence for the user.
bool check(const Options& options, std::string* error);

// The meaning of the options.
Extents grid_of(const Options& options);
Extents split_of(const Options& options);  // all zeros: the program chooses
Model model_of(const Options& options);
Source source_of(const Options& options);

}  // namespace seismic
