#include "native/nvml.h"

#include <dlfcn.h>

#include <algorithm>

namespace thinwire::nccl {
namespace {

// As nvml.h has them.
using Device = struct OfDevice*;
constexpr int kSuccess = 0;
constexpr unsigned char kCompleted = 3;  // NVML_GPU_FABRIC_STATE_COMPLETED

struct Info {  // nvmlGpuFabricInfo_v2_t
  unsigned version = 0;
  std::array<unsigned char, 16> cluster{};
  int status = 0;
  unsigned clique = 0;
  unsigned char state = 0;
  unsigned health = 0;
};
constexpr unsigned kVersion = sizeof(Info) | 2U << 24U;  // nvmlGpuFabricInfo_v2
static_assert(sizeof(Info) == 36);

struct Library {
  int (*init)() = nullptr;
  int (*count)(unsigned* count) = nullptr;
  int (*by_index)(unsigned index, Device* device) = nullptr;
  int (*by_bus_id)(const char* bus_id, Device* device) = nullptr;
  int (*fabric)(Device device, Info* info) = nullptr;
};

template <typename Function>
bool look_up(void* library, const char* name, Function& to) {
  to = reinterpret_cast<Function>(dlsym(library, name));
  return to != nullptr;
}

// Stays loaded, and is never shut down: NCCL uses it as well.
std::optional<Library> loaded() {
  Library made;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  const bool has_all = look_up(library, "nvmlInit_v2", made.init) &&
                       look_up(library, "nvmlDeviceGetCount_v2", made.count) &&
                       look_up(library, "nvmlDeviceGetHandleByIndex_v2", made.by_index) &&
                       look_up(library, "nvmlDeviceGetHandleByPciBusId_v2", made.by_bus_id) &&
                       look_up(library, "nvmlDeviceGetGpuFabricInfoV", made.fabric);
  if (!has_all || made.init() != kSuccess) return std::nullopt;
  return made;
}

const std::optional<Library>& library() {
  static const std::optional<Library> once = loaded();
  return once;
}

std::optional<Fabric> fabric_of(Device device) {
  Info info;
  info.version = kVersion;
  if (library()->fabric(device, &info) != kSuccess || info.state != kCompleted) return std::nullopt;
  return Fabric{info.cluster, info.clique};
}

}  // namespace

std::optional<Fabric> fabric_of_gpu(const char* bus_id) {
  Device device = nullptr;
  if (!library() || library()->by_bus_id(bus_id, &device) != kSuccess) return std::nullopt;
  return fabric_of(device);
}

std::vector<std::optional<Fabric>> fabrics_of_gpus() {
  std::vector<std::optional<Fabric>> all;
  unsigned count = 0;
  if (!library() || library()->count(&count) != kSuccess) return all;
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    const bool is_there = library()->by_index(index, &device) == kSuccess;
    all.push_back(is_there ? fabric_of(device) : std::nullopt);
  }
  return all;
}

}  // namespace thinwire::nccl
