// The frame of an MPI program: its start and end, its options, the agreement of its ranks, its
// device.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "examples/common/command_line.h"

namespace examples {

// Runs `run` between MPI_Init and MPI_Finalize and returns what it returns, the exit status. An
// exception on one rank is printed after the program's name and ends all of them.
int run_program(const char* name, int argc, char** argv, int (*run)(int argc, char** argv));

struct World {
  int rank = 0;
  int ranks = 1;
};

// The rank and size of MPI_COMM_WORLD.
World find_world();

// Reads a program's options on every rank, then has `check` look at what the table of options
// cannot hold; it writes a sentence for the user if it returns false. False if options are
// wrong, after rank 0 has said so, with the usage, on stderr.
bool read_options(const char* name, const CommandLine& line, int argc, char** argv,
                  const std::function<bool(std::string* error)>& check);

// Agreement of all ranks, in messages of a few bytes.

// Collective; the result is every rank's.
double largest(MPI_Comm comm, double value);
double smallest(MPI_Comm comm, double value);
double total(MPI_Comm comm, double value);
std::int64_t total(MPI_Comm comm, std::int64_t value);

// A checksum of the bits of an array in host memory: two arrays that differ in one bit have
// different ones, but for chance.
std::uint64_t checksum(const void* data, std::size_t bytes);

// One checksum of all ranks', each at its rank's place. Collective.
std::uint64_t checksum_of_all(MPI_Comm comm, std::uint64_t own);

// Whether all ranks pass the same value. Collective.
bool all_same(MPI_Comm comm, std::uint64_t value);

// 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t value);

enum class Device { kCpu, kGpu, kAuto };  // auto: GPUs if every rank has one

// The place where a program computes, and how what lies in GPU memory becomes a message.
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
