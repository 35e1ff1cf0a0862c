// Stands for src/device/driver.cpp: the driver's functions that the device layer asks for.
#include "device/driver.h"

#include <cuda_runtime_api.h>

#include "device/machine.h"
#include "fake_cuda/state.h"

namespace thinwire::device {
namespace {

using namespace thinwire::fake_cuda;

CUresult CUDAAPI attributes(unsigned count, CUpointer_attribute* names, void** values,
                            CUdeviceptr pointer) {
  fake_cuda::count("cuPointerGetAttributes");
  const std::lock_guard lock(state().mutex);
  auto* const at = reinterpret_cast<std::byte*>(pointer);
  auto found = state().memory.upper_bound(at);
  const bool known =
      found != state().memory.begin() && (--found, true) && at < found->first + found->second.bytes;
  const int device = known ? found->second.device : kPinned;
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) {
      const CUmemorytype type = device >= 0 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      *static_cast<CUmemorytype*>(values[i]) = known ? type : static_cast<CUmemorytype>(0);
    }
    if (names[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *static_cast<int*>(values[i]) = device;
    if (names[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED) *static_cast<unsigned*>(values[i]) = 0;
    if (names[i] == CU_POINTER_ATTRIBUTE_CONTEXT) {
      *static_cast<CUcontext*>(values[i]) = device >= 0 ? context_of(device) : nullptr;
    }
  }
  return CUDA_SUCCESS;
}

CUresult CUDAAPI get_current(CUcontext* context) {
  fake_cuda::count("cuCtxGetCurrent");
  *context = context_of(current_device());
  return CUDA_SUCCESS;
}

CUresult CUDAAPI set_current(CUcontext context) {
  fake_cuda::count("cuCtxSetCurrent");
  current_device() = device_of(context);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI get_device(CUdevice* handle, int device) {
  fake_cuda::count("cuDeviceGet");
  *handle = device;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI primary_state(CUdevice device, unsigned* flags, int* active) {
  fake_cuda::count("cuDevicePrimaryCtxGetState");
  *flags = 0;
  *active = fake_cuda::has_context(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI retain_primary(CUcontext* context, CUdevice device) {
  fake_cuda::count("cuDevicePrimaryCtxRetain");
  fake_cuda::state().has_context[static_cast<std::size_t>(device)] = true;
  *context = context_of(device);
  return CUDA_SUCCESS;
}

}  // namespace

bool machine_may_have_gpu() { return true; }

const Driver* loaded_driver() {
  static const Driver driver{attributes, get_current,   set_current,
                             get_device, primary_state, retain_primary};
  return &driver;
}

}  // namespace thinwire::device
