// The command line of the wave program.
#pragma once

#include <string>

#include "examples/common/command_line.h"
#include "examples/common/device.h"

namespace wave {

struct Options {
  int nx = 176;
  int ny = 176;
  int nz = 96;
  int steps = 260;
  int gather_every = 65;  // steps between two gathers of the wavefield; 0: after the last only
  int shots = 1;          // sources along x and along y
  examples::DeviceOptions device;
  std::string output;  // raw little-endian fp32, [nz][ny][nx]; "" writes none
};

// The options as a table that writes to `options`.
examples::CommandLine command_line(Options* options);

}  // namespace wave
