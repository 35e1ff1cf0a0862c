#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>

#include "nccl/device.h"

namespace thinwire::bench::nccl {
namespace {

constexpr int kThreads = 512;
constexpr std::int64_t kMostBlocks = 4096;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

__device__ float sum_of(float left, float right) { return left + right; }
__device__ double sum_of(double left, double right) { return left + right; }
__device__ __half sum_of(__half left, __half right) {
  return __float2half_rn(__half2float(left) + __half2float(right));
}
__device__ __nv_bfloat16 sum_of(__nv_bfloat16 left, __nv_bfloat16 right) {
  return __float2bfloat16_rn(__bfloat162float(left) + __bfloat162float(right));
}

template <typename Value>
__global__ void add_kernel(Value* into, const Value* from, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; at < count; at += step) into[at] = sum_of(into[at], from[at]);
}

template <typename Value>
void launch_add(void* into, const void* from, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  const std::int64_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  add_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      static_cast<Value*>(into), static_cast<const Value*>(from), count);
  check(cudaGetLastError(), "adding on the GPU");
}

// As much as older drivers take.
struct Large {
  char bytes[4000];
};

__global__ void nothing_kernel() {}
__global__ void large_nothing_kernel(const __grid_constant__ Large all) {}

class GpuDevice : public Device {
 public:
  explicit GpuDevice(int local_rank) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "looking for GPUs");
    if (count == 0) throw std::runtime_error("this process sees no GPU");
    check(cudaSetDevice(local_rank % count), "taking a GPU");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, local_rank % count), "asking a GPU");
    name_ = properties.name;
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
  }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  ~GpuDevice() override { cudaStreamDestroy(stream_); }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "GPU memory");
    return memory;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }

  void write(void* to, std::span<const char> from) override {
    check(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_),
          "copying values to the GPU");
    synchronize();
  }
  void read(std::span<char> to, const void* from) override {
    check(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream_),
          "copying values from the GPU");
    synchronize();
  }
  void clear(void* to, std::size_t bytes) override {
    check(cudaMemsetAsync(to, 0xff, bytes, stream_), "clearing a buffer");
    synchronize();
  }
  void zero(void* to, std::size_t bytes) override {
    check(cudaMemsetAsync(to, 0, bytes, stream_), "zeroing a buffer");
    synchronize();
  }

  void* allocate_host(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, bytes), "pinned memory");
    return memory;
  }
  void release_host(void* memory) noexcept override { cudaFreeHost(memory); }

  void copy(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "copying a block");
  }
  void add(void* into, const void* from, std::int64_t count, tw_dtype dtype) override {
    if (dtype == TW_F32) return launch_add<float>(into, from, count, stream_);
    if (dtype == TW_F64) return launch_add<double>(into, from, count, stream_);
    if (dtype == TW_F16) return launch_add<__half>(into, from, count, stream_);
    launch_add<__nv_bfloat16>(into, from, count, stream_);
  }

  void launch_nothing(bool large) override {
    static const Large kLarge{};
    if (large) {
      large_nothing_kernel<<<1, 1, 0, stream_>>>(kLarge);
    } else {
      nothing_kernel<<<1, 1, 0, stream_>>>();
    }
    check(cudaGetLastError(), "a launch");
  }

  cudaStream_t stream() override { return stream_; }
  void synchronize() override { check(cudaStreamSynchronize(stream_), "work on the GPU"); }
  std::string name() const override { return name_; }
  bool is_gpu() const override { return true; }
  void query() override {
    int device = 0;
    check(cudaGetDevice(&device), "asking for the GPU");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "asking a GPU");
  }

 private:
  cudaStream_t stream_ = nullptr;
  std::string name_;
};

}  // namespace

std::unique_ptr<Device> make_gpu_device(int local_rank) {
  return std::make_unique<GpuDevice>(local_rank);
}

}  // namespace thinwire::bench::nccl
