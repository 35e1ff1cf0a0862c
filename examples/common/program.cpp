#include "examples/common/program.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "examples/common/memory.h"
#include "examples/common/values.h"

namespace examples {

int run_program(const char* name, int argc, char** argv, int (*run)(int argc, char** argv)) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}

World find_world() {
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  return world;
}

bool read_options(const char* name, const CommandLine& line, int argc, char** argv,
                  const std::function<bool(std::string* error)>& check) {
  std::string error;
  if (line.parse(argc, argv, &error) && check(&error)) return true;
  if (find_world().rank == 0) {
    std::fprintf(stderr, "%s: %s\n%s\n", name, error.c_str(), line.usage(name).c_str());
  }
  return false;
}

namespace {

template <typename Value>
Value reduced(MPI_Comm comm, Value value, MPI_Datatype type, MPI_Op operation) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, operation, comm);
  return value;
}

}  // namespace

double largest(MPI_Comm comm, double value) { return reduced(comm, value, MPI_DOUBLE, MPI_MAX); }
double smallest(MPI_Comm comm, double value) { return reduced(comm, value, MPI_DOUBLE, MPI_MIN); }
double total(MPI_Comm comm, double value) { return reduced(comm, value, MPI_DOUBLE, MPI_SUM); }
std::int64_t total(MPI_Comm comm, std::int64_t value) {
  return reduced(comm, value, MPI_INT64_T, MPI_SUM);
}

std::uint64_t checksum(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(data);
  std::uint64_t sum = mix(bytes + 1);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, std::min(sizeof word, bytes - at));
    sum = mix(sum + word + 1);
  }
  return sum;
}

std::uint64_t checksum_of_all(MPI_Comm comm, std::uint64_t own) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::uint64_t placed = mix(own + mix(static_cast<std::uint64_t>(rank) + 1));
  return reduced(comm, placed, MPI_UINT64_T, MPI_SUM);
}

bool all_same(MPI_Comm comm, std::uint64_t value) {
  return reduced(comm, value, MPI_UINT64_T, MPI_MIN) == reduced(comm, value, MPI_UINT64_T, MPI_MAX);
}

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

namespace {

int local_rank(MPI_Comm comm) {
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank;
}

}  // namespace

void add_device_options(CommandLine* line, DeviceOptions* options) {
  line->choice<Device>("--device",
                       {{"cpu", Device::kCpu}, {"gpu", Device::kGpu}, {"auto", Device::kAuto}},
                       &options->device);
  line->flag("--staging", &options->staging);
}

bool check_device_options(const DeviceOptions& options, std::string* error) {
  if (!options.staging || options.device != Device::kCpu) return true;
  *error = "--staging is for --device gpu or auto";
  return false;
}

bool choose_device(MPI_Comm comm, const char* program, Device device, bool* on_gpu) {
  *on_gpu = false;
  if (device == Device::kCpu) return true;
  std::string error;
  const int own = choose_gpu(local_rank(comm), &error) ? 1 : 0;
  if (own == 0 && device == Device::kGpu) {
    std::fprintf(stderr, "%s: --device gpu: %s\n", program, error.c_str());
  }
  int all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm);
  *on_gpu = all == 1;
  return *on_gpu || device == Device::kAuto;
}

}  // namespace examples
