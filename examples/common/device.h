// The place where a program computes, and how what lies in GPU memory becomes a message.
#pragma once

#include <mpi.h>

#include <string>

#include "examples/common/command_line.h"

namespace examples {

enum class Device { kCpu, kGpu, kAuto };  // auto: GPUs if every rank has one

struct DeviceOptions {
  Device device = Device::kCpu;
  bool staging = false;  // with GPUs: MPI gets host memory, copied by hand
};

// --device and --staging.
void add_device_options(CommandLine* line, DeviceOptions* options);

// Checks what the table of options cannot hold. On failure `error` holds a sentence for the user.
bool check_device_options(const DeviceOptions& options, std::string* error);

// Whether the ranks compute on GPUs: all of them or none; of a host's ranks each then has taken the
// next GPU. False, after a sentence for the user, if GPUs are asked for and a rank has none.
// Collective over `comm`.
bool choose_device(MPI_Comm comm, const char* program, Device device, bool* on_gpu);

}  // namespace examples
