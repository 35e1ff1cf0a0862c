#include "device/launch.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace thinwire::device {
namespace {

constexpr int kMostDevices = 64;

struct Limits {
  std::array<std::uint32_t, kMostDevices> of{};
  bool alike = true;
};

std::uint32_t most_in_test() {
  const char* const text = std::getenv("THINWIRE_TEST_SHARED_BYTES");
  return text == nullptr ? UINT32_MAX : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

Limits ask_all_devices() {
  Limits limits;
  limits.of.fill(kCommonSharedBytes);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  const std::uint32_t most = most_in_test();
  for (int device = 0; device < std::min(devices, kMostDevices); ++device) {
    int bytes = 0;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
        cudaSuccess) {
      limits.of[device] = std::min(static_cast<std::uint32_t>(bytes), most);
    }
    limits.alike &= limits.of[device] == limits.of[0];
  }
  return limits;
}

}  // namespace

std::uint32_t shared_limit() {
  static const Limits limits = ask_all_devices();
  if (limits.alike) return limits.of[0];
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kMostDevices) return kCommonSharedBytes;
  return limits.of[device];
}

}  // namespace thinwire::device
