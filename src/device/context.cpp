#include "device/context.h"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

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
  ContextGuard guard;
  if (driver->current_context(&guard.before_) != CUDA_SUCCESS) guard.before_ = nullptr;
  if (guard.before_ != wanted && driver->set_context(wanted) != CUDA_SUCCESS) {
    return {StatusCode::kDevice, "GPU " + std::to_string(device) + " cannot be made current"};
  }
  guard.changed_ = guard.before_ != wanted;
  guard.driver_ = driver;
  cudaThreadExchangeStreamCaptureMode(&guard.mode_);
  return guard;
}

ContextGuard::~ContextGuard() {
  if (driver_ == nullptr) return;
  cudaThreadExchangeStreamCaptureMode(&mode_);
  if (changed_) driver_->set_context(before_);
}

void ContextGuard::swap(ContextGuard& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(before_, other.before_);
  std::swap(changed_, other.changed_);
  std::swap(mode_, other.mode_);
}

}  // namespace thinwire::device
