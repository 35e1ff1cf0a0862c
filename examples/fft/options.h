// The command line of the FFT program.
#pragma once

#include <string>

#include "examples/common/command_line.h"
#include "examples/common/device.h"

namespace fft {

struct Options {
  int size = 64;              // points along each axis
  int repeat = 5;             // pairs of transforms, there and back, that are timed
  double slope = -5.0 / 3.0;  // of the field's energy over the wave number
  std::string field;          // files for what the first transform starts from,
  std::string spectrum;       // and for what comes of it
  bool json = false;
  examples::DeviceOptions device;
};

// The options as a table that writes to `options`.
examples::CommandLine command_line(Options* options);

// Checks what the table cannot hold. On failure `error` holds a sentence for the user.
bool check(const Options& options, int ranks, std::string* error);

}  // namespace fft
