#include "p2p/buffers.h"

#ifdef THINWIRE_CUDA
#include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace thinwire::bench {
namespace {

class HostBuffer : public Buffer {
 public:
  explicit HostBuffer(std::size_t count) : values_(count) {}

  float* message() override { return values_.data(); }
  void write(std::span<const float> values) override {
    std::copy(values.begin(), values.end(), values_.begin());
  }
  void read(std::span<float> values) override {
    std::copy_n(values_.begin(), values.size(), values.begin());
  }
  void clear() override { std::memset(values_.data(), 0xff, values_.size() * sizeof(float)); }

 private:
  std::vector<float> values_;
};

#ifdef THINWIRE_CUDA
void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

class DeviceBuffer : public Buffer {
 public:
  explicit DeviceBuffer(std::size_t count) : bytes_(count * sizeof(float)) {
    check(cudaMalloc(reinterpret_cast<void**>(&values_), bytes_), "GPU memory for a message");
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() override { cudaFree(values_); }

  float* message() override { return values_; }
  void write(std::span<const float> values) override {
    check(cudaMemcpy(values_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
          "copying values to the GPU");
    check(cudaDeviceSynchronize(), "copying values to the GPU");
  }
  void read(std::span<float> values) override {
    check(cudaMemcpy(values.data(), values_, values.size_bytes(), cudaMemcpyDeviceToHost),
          "copying values from the GPU");
  }
  void clear() override {
    check(cudaMemset(values_, 0xff, bytes_), "clearing a message");
    check(cudaDeviceSynchronize(), "clearing a message");
  }

 protected:
  float* values_ = nullptr;
  std::size_t bytes_;
};

// Staging as a careful program does it if its MPI takes host memory only: a pinned buffer and a
// stream, made beforehand, one copy on either side.
class StagedBuffer : public DeviceBuffer {
 public:
  explicit StagedBuffer(std::size_t count) : DeviceBuffer(count) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream for staging");
    check(cudaMallocHost(reinterpret_cast<void**>(&pinned_), bytes_), "pinned memory for staging");
  }
  ~StagedBuffer() override {
    cudaFreeHost(pinned_);
    cudaStreamDestroy(stream_);
  }

  float* message() override { return pinned_; }
  void before_send() override { copy(pinned_, values_, cudaMemcpyDeviceToHost); }
  void after_receive() override { copy(values_, pinned_, cudaMemcpyHostToDevice); }
  void clear() override {
    DeviceBuffer::clear();
    std::fill_n(reinterpret_cast<unsigned char*>(pinned_), bytes_, 0xff);
  }

 private:
  void copy(float* target, const float* source, cudaMemcpyKind direction) {
    check(cudaMemcpyAsync(target, source, bytes_, direction, stream_), "staging a message");
    check(cudaStreamSynchronize(stream_), "staging a message");
  }

  cudaStream_t stream_ = nullptr;
  float* pinned_ = nullptr;
};
#endif

}  // namespace

std::unique_ptr<Buffer> make_buffer(Memory memory, std::size_t count) {
#ifdef THINWIRE_CUDA
  if (memory == Memory::kDevice) return std::make_unique<DeviceBuffer>(count);
  if (memory == Memory::kStaged) return std::make_unique<StagedBuffer>(count);
#else
  (void)memory;
#endif
  return std::make_unique<HostBuffer>(count);
}

#ifdef THINWIRE_CUDA
bool choose_gpu(int local_rank, Gpu* gpu, std::string* error) {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count == 0) status = cudaErrorNoDevice;
  if (status == cudaSuccess) status = cudaSetDevice(local_rank % count);
  cudaDeviceProp properties{};
  if (status == cudaSuccess) status = cudaGetDeviceProperties(&properties, local_rank % count);
  char bus[32] = "";
  if (status == cudaSuccess) status = cudaDeviceGetPCIBusId(bus, sizeof bus, local_rank % count);
  if (status != cudaSuccess) {
    *error = std::string("there is no GPU to use here (") + cudaGetErrorString(status) + ")";
    return false;
  }
  *gpu = {properties.name, bus};
  return true;
}
#else
bool choose_gpu(int, Gpu*, std::string* error) {
  *error = "this build has no GPU side: it was made without nvcc";
  return false;
}
#endif

}  // namespace thinwire::bench
