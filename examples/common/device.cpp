#include "examples/common/device.h"

#include <cstdio>

#include "examples/common/memory.h"

namespace examples {
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
