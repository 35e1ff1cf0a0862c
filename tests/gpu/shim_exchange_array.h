// Arrays in the kinds of memory that an MPI program on GPUs has.
#pragma once

#include <cuda_runtime.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

enum class Memory { kDevice, kManaged, kHost };

// `count` floats at an offset that is aligned for floats only.
class Array {
 public:
  explicit Array(std::size_t count, Memory memory = Memory::kDevice)
      : memory_(memory), count_(count) {
    const std::size_t bytes = (count + 1) * sizeof(float);
    if (memory == Memory::kDevice) cuda(cudaMalloc(&start_, bytes), "cudaMalloc");
    if (memory == Memory::kManaged) cuda(cudaMallocManaged(&start_, bytes), "cudaMallocManaged");
    if (memory == Memory::kHost) start_ = static_cast<float*>(std::malloc(bytes));
  }
  ~Array() { memory_ == Memory::kHost ? std::free(start_) : static_cast<void>(cudaFree(start_)); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  float* data() const { return start_ + 1; }

  void write(const std::vector<float>& values) {
    cuda(cudaMemcpy(data(), values.data(), count_ * sizeof(float), cudaMemcpyDefault), "write");
    cuda(cudaDeviceSynchronize(), "write");
  }

  std::vector<float> read() const {
    std::vector<float> values(count_);
    cuda(cudaMemcpy(values.data(), data(), count_ * sizeof(float), cudaMemcpyDefault), "read");
    return values;
  }

 private:
  Memory memory_;
  std::size_t count_;
  float* start_ = nullptr;
};
