#include "device/context.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "device/driver.h"

namespace thinwire::device {
namespace {

constexpr int kMaxDevices = 64;
std::array<std::atomic<CUcontext>, kMaxDevices> primaries{};

// Retained for the life of the process; a program's own cudaDeviceReset() still resets it.
CUcontext retain(const Driver& driver, int device) {
  CUdevice handle = 0;
  CUcontext context = nullptr;
  if (driver.device_get(&handle, device) != CUDA_SUCCESS ||
      driver.retain_primary(&context, handle) != CUDA_SUCCESS) {
    return nullptr;
  }
  primaries[device].store(context, std::memory_order_release);
  return context;
}

// Whose primary context is current, else the first that has one; -1: the process has none yet.
int device_at_work(const Driver& driver, int devices) {
  CUcontext current = nullptr;
  if (driver.current_context(&current) != CUDA_SUCCESS) current = nullptr;
  int first = -1;
  for (int device = 0; device < devices; ++device) {
    CUcontext known = known_primary(driver, device);
    if (known == nullptr) continue;
    if (current == nullptr || known == current) return device;
    if (first < 0) first = device;
  }
  return first;
}

}  // namespace

CUcontext known_primary(const Driver& driver, int device) {
  if (device < 0 || device >= kMaxDevices) return nullptr;
  if (CUcontext known = primaries[device].load(std::memory_order_acquire)) return known;
  CUdevice handle = 0;
  unsigned flags = 0;
  int active = 0;
  if (driver.device_get(&handle, device) != CUDA_SUCCESS ||
      driver.primary_state(handle, &flags, &active) != CUDA_SUCCESS || active == 0) {
    return nullptr;
  }
  return retain(driver, device);
}

Result<ContextGuard> ContextGuard::enter(int device) {
  if (device < 0 || device >= kMaxDevices) {
    return {StatusCode::kDevice, "there is no GPU " + std::to_string(device)};
  }
  CUcontext wanted = primaries[device].load(std::memory_order_acquire);
  if (wanted == nullptr) {
    // The runtime loads the driver and says what is wrong where it cannot.
    int count = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
      return device_error("no GPU can be used", error);
    }
    if (device >= count) {
      return {StatusCode::kDevice, "there is no GPU " + std::to_string(device)};
    }
  }
  const Driver* driver = loaded_driver();
  if (driver == nullptr) return {StatusCode::kDevice, "the CUDA driver is not loaded"};
  if (wanted == nullptr) wanted = retain(*driver, device);
  if (wanted == nullptr) {
    return {StatusCode::kDevice, "GPU " + std::to_string(device) + " gives no context"};
  }
  CUcontext before = nullptr;
  if (driver->current_context(&before) != CUDA_SUCCESS) before = nullptr;
  if (before != wanted && driver->set_context(wanted) != CUDA_SUCCESS) {
    return {StatusCode::kDevice, "GPU " + std::to_string(device) + " cannot be made current"};
  }
  ContextGuard guard;
  guard.entered_ = true;
  guard.changed_ = before != wanted;
  guard.before_ = before;
  auto mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  guard.capture_mode_ = mode;
  return guard;
}

Result<ContextGuard> ContextGuard::enter_any() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    return device_error("no GPU can be used", error);
  }
  const Driver* const driver = loaded_driver();
  int device = driver == nullptr ? -1 : device_at_work(*driver, std::min(count, kMaxDevices));
  // Takes the device of the thread's context, whichever it is.
  if (device < 0 && cudaGetDevice(&device) != cudaSuccess) device = 0;
  return enter(device);
}

ContextGuard::~ContextGuard() {
  if (!entered_) return;
  auto mode = static_cast<cudaStreamCaptureMode>(capture_mode_);
  cudaThreadExchangeStreamCaptureMode(&mode);
  if (changed_) loaded_driver()->set_context(static_cast<CUcontext>(before_));
}

}  // namespace thinwire::device
