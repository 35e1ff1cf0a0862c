// The command line of the wave program.
#pragma once

#include <string>

namespace wave {

struct Options {
  int nx = 176;
  int ny = 176;
  int nz = 96;
  int steps = 260;
  int gather_every = 65;  // steps between two gathers of the wavefield; 0: after the last only
  int shots = 1;          // sources along x and along y
  std::string output;     // raw little-endian fp32, [nz][ny][nx]; "" writes none
};

// Reads argv into `options`. On failure `error` holds a sentence for the user.
bool parse_options(int argc, char** argv, Options* options, std::string* error);

const char* usage();

}  // namespace wave
