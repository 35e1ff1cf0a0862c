// GPU memory and pinned host memory that free themselves, and CUDA's errors as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace wave {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

// Returns when the GPU has done all it was told.
inline void wait_for_gpu() { check(cudaDeviceSynchronize(), "waiting for the GPU"); }

// Between any two places. Copies and kernels of this program run in the order of their calls, on
// CUDA's default stream.
inline void copy(float* target, const float* source, std::size_t count) {
  check(cudaMemcpyAsync(target, source, count * sizeof(float), cudaMemcpyDefault),
        "copying values");
}

template <typename Value>
class DeviceArray {
 public:
  // All zeros.
  explicit DeviceArray(std::size_t count) {
    if (count == 0) return;
    check(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(Value)), "GPU memory");
    check(cudaMemset(data_, 0, count * sizeof(Value)), "clearing GPU memory");
  }
  explicit DeviceArray(const std::vector<Value>& values) : DeviceArray(values.size()) {
    if (values.empty()) return;
    check(cudaMemcpy(data_, values.data(), values.size() * sizeof(Value), cudaMemcpyHostToDevice),
          "copying values to the GPU");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  Value* data() const { return data_; }

 private:
  Value* data_ = nullptr;
};

// Host memory that the GPU copies to and from at the full speed of the bus.
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t count) {
    check(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(float)), "pinned memory");
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() { cudaFreeHost(data_); }

  float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};

}  // namespace wave
