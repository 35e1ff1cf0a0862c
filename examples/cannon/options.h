// The command line of Cannon's matrix product.
#pragma once

#include <string>

#include "examples/common/command_line.h"
#include "examples/common/device.h"

namespace cannon {

enum class Precision { kFp32, kFp64 };

struct Options {
  int size = 1024;  // rows and columns of the matrices
  Precision precision = Precision::kFp64;
  std::string matrix = "kernel";  // kernel, random, or a file's path
  double length = 1;              // of the kernel; the points lie in [0, 1)
  int repeat = 1;                 // products computed and timed, one after the other
  double tolerance = 0;           // of the verification; 0: what rounding alone can do
  bool json = false;
  examples::DeviceOptions device;
};

// The options as a table that writes to `options`.
examples::CommandLine command_line(Options* options);

}  // namespace cannon
