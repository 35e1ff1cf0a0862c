// The command line of the wave program.
#pragma once

#include <string>

namespace wave {

enum class Device { kCpu, kGpu, kAuto };  // auto: GPUs where every rank has one

struct Options {
  int nx = 176;
  int ny = 176;
  int nz = 96;
  int steps = 260;
  int gather_every = 65;  // steps between two gathers of the wavefield; 0: after the last only
  int shots = 1;          // sources along x and along y
  Device device = Device::kCpu;
  bool staging = false;  // with GPUs: MPI gets host memory, copied by hand
  std::string output;    // raw little-endian fp32, [nz][ny][nx]; "" writes none
};

// Reads argv into `options`. On failure `error` holds a sentence for the user.
bool parse_options(int argc, char** argv, Options* options, std::string* error);

const char* usage();

}  // namespace wave
