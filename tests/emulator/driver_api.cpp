// The driver's functions that tests of tests/gpu call, over the fake runtime.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>

#include "fake_cuda/fake_cuda.h"
#include "fake_cuda/state.h"

using namespace thinwire;

namespace {

using Work = std::deque<std::function<void()>>;

CUresult result_of(cudaError_t error) { return static_cast<CUresult>(error); }

template <typename Number>
void* at(Number address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

CUresult allocate(CUdeviceptr* pointer, std::size_t bytes) {
  int device = 0;
  cudaGetDevice(&device);
  *pointer = reinterpret_cast<CUdeviceptr>(fake_cuda::allocate(device, bytes));
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

// The names of the binary interface, which cuda.h has as macros.
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemAllocHost
#undef cuStreamDestroy

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* handle, int device) {
  *handle = device;
  return device < fake_cuda::kDevices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = fake_cuda::context_of(device);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  fake_cuda::use(fake_cuda::device_of(context));
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return result_of(cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamSynchronize(CUstream stream) { return result_of(cudaStreamSynchronize(stream)); }
CUresult cuStreamDestroy_v2(CUstream stream) { return result_of(cudaStreamDestroy(stream)); }

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return result_of(cudaMemcpyAsync(at(to), at(from), bytes, cudaMemcpyDefault, stream));
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  return result_of(cudaMemsetAsync(at(to), value, bytes, stream));
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) { return allocate(pointer, bytes); }
CUresult cuMemFree_v2(CUdeviceptr pointer) { return result_of(cudaFree(at(pointer))); }
CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return result_of(cudaHostAlloc(pointer, bytes, flags));
}
CUresult cuMemFreeHost(void* pointer) { return result_of(cudaFreeHost(pointer)); }

// A graph is what its stream would have run, in that order.
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
  fake_cuda::begin_capture(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  *graph = reinterpret_cast<CUgraph>(new Work(fake_cuda::end_capture(stream)));
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* ready, CUgraph graph, unsigned long long) {
  *ready = reinterpret_cast<CUgraphExec>(new Work(*reinterpret_cast<Work*>(graph)));
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec ready, CUstream stream) {
  for (const auto& each : *reinterpret_cast<Work*>(ready)) fake_cuda::enqueue(stream, each);
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<Work*>(graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec ready) {
  delete reinterpret_cast<Work*>(ready);
  return CUDA_SUCCESS;
}

// Not there: tests that need them are skipped by name.
CUresult cuMemAllocManaged(CUdeviceptr*, std::size_t, unsigned) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuCtxCreate_v2(CUcontext*, unsigned, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }

}  // extern "C"
