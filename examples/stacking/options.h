// The command line of the stacking program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "examples/common/command_line.h"
#include "examples/common/device.h"

namespace stacking {

struct Options {
  std::string image;                             // a file of raw fp32; "" makes a section up
  std::vector<std::size_t> shape{64, 256, 256};  // slowest first
  double noise = 1e-3;                           // standard deviation, as a share of the range
  double aperture = 1;  // share of the slowest axis that each rank's image covers
  int repeat = 10;      // stacks computed and timed, one after the other
  bool json = false;
  examples::DeviceOptions device;
};

// The options as a table that writes to `options`.
examples::CommandLine command_line(Options* options);

// Checks what the table cannot hold. On failure `error` holds a sentence for the user.
bool check(const Options& options, std::string* error);

// Values of an image.
std::size_t values_of(const Options& options);

}  // namespace stacking
