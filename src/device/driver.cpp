#include "device/driver.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "device/machine.h"

namespace thinwire::device {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

const Driver* resolve(void* library) {
  static Driver driver;
  static const bool complete = find(library, "cuPointerGetAttributes", driver.pointer_attributes) &&
                               find(library, "cuCtxGetCurrent", driver.current_context) &&
                               find(library, "cuCtxSetCurrent", driver.set_context) &&
                               find(library, "cuDeviceGet", driver.device_get) &&
                               find(library, "cuDevicePrimaryCtxGetState", driver.primary_state) &&
                               find(library, "cuDevicePrimaryCtxRetain", driver.retain_primary);
  return complete ? &driver : nullptr;
}

// How many libraries the process has ever loaded.
std::uint64_t load_count() {
  std::uint64_t loads = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uint64_t*>(out) = info->dlpi_adds;
        return 1;
      },
      &loads);
  return loads;
}

}  // namespace

bool machine_may_have_gpu() {
  static const bool may = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
  return may;
}

const Driver* loaded_driver() {
  static std::atomic<const Driver*> known{nullptr};
  static std::atomic<std::uint64_t> searched{0};
  const Driver* driver = known.load(std::memory_order_acquire);
  if (driver != nullptr) return driver;
  if (!machine_may_have_gpu()) return nullptr;
  const std::uint64_t loads = load_count();
  // Another thread may have found it since.
  if (loads == searched.load(std::memory_order_acquire)) {
    return known.load(std::memory_order_acquire);
  }
  if (void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
    driver = resolve(library);
    known.store(driver, std::memory_order_release);
  }
  // Last: who reads it must find the driver.
  searched.store(loads, std::memory_order_release);
  return driver;
}

}  // namespace thinwire::device
