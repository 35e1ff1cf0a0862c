// An NVML of made-up GPUs, each with its fabric: FAKE_NVML has a word a GPU, of the state, the
// cluster's first byte and the clique, as in "3:7:1 3:7:2". The GPUs are 0000:00:00.0 and so on by
// the last digit. FAKE_NVML_INIT is what the start returns.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct Gpu {
  int state = 0, cluster = 0;
  unsigned clique = 0;
};

std::vector<Gpu>& gpus() {
  static std::vector<Gpu> all;
  return all;
}

struct Info {
  unsigned version;
  std::array<unsigned char, 16> cluster;
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};

constexpr int kUninitialized = 1, kInvalid = 2, kNotFound = 6, kWrongVersion = 25;

int find(unsigned index, void** device) {
  if (index >= gpus().size()) return kNotFound;
  *device = &gpus()[index];
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvmlInit_v2() {
  const char* const result = std::getenv("FAKE_NVML_INIT");
  if (result != nullptr) return std::atoi(result);
  const char* at = std::getenv("FAKE_NVML");
  Gpu next;
  int used = 0;
  gpus().clear();
  while (at != nullptr &&
         std::sscanf(at, "%d:%d:%u %n", &next.state, &next.cluster, &next.clique, &used) == 3) {
    gpus().push_back(next);
    at += used;
  }
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(gpus().size());
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) { return find(index, device); }

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  unsigned index = 0;
  if (std::sscanf(bus_id, "0000:00:00.%u", &index) != 1) return kInvalid;
  return find(index, device);
}

int nvmlDeviceGetGpuFabricInfoV(void* device, Info* info) {
  if (device == nullptr) return kUninitialized;
  if (info->version != (sizeof *info | 2U << 24U)) return kWrongVersion;
  const Gpu& gpu = *static_cast<Gpu*>(device);
  info->cluster = {};
  info->cluster[0] = static_cast<unsigned char>(gpu.cluster);
  info->clique = gpu.clique;
  info->state = static_cast<unsigned char>(gpu.state);
  return 0;
}
}
