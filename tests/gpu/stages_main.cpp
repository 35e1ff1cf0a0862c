// The codecs' host-and-device functions, stage by stage, on the CPU and on GPU 0. Exit code 0 if
// all agree, 1 if one does not, 77 if there is no GPU.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>

#include "stages.h"

namespace thinwire::stages {

std::vector<Compare>& comparisons() {
  static std::vector<Compare> all;
  return all;
}

}  // namespace thinwire::stages

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  try {
    thinwire::stages::Report report;
    for (const auto compare : thinwire::stages::comparisons()) compare(report);
    std::printf("%d stages agree, %d do not\n", report.passed, report.failed);
    return report.failed == 0 && report.passed > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
}
