// State that the fake runtime and the fake driver share.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fake_cuda/fake_cuda.h"

namespace thinwire::fake_cuda {

inline constexpr int kPinned = -1;
inline constexpr int kProcessors = 132;

struct Memory {
  int device;  // or kPinned
  std::size_t bytes;
};

struct State {
  std::recursive_mutex mutex;
  std::map<std::byte*, Memory> memory;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  cudaError_t failure = cudaSuccess;  // of the next thing that is enqueued
  std::array<int, kDevices> shared_bytes{kSharedBytes[0], kSharedBytes[1]};
  int launches = 0, processors = kProcessors;
  std::map<std::string, int> calls;
  std::map<const void*, std::string> kernels;  // by the host's functions of their names
  std::array<bool, kDevices> has_context{true, true};
};

State& state();

// Counts a call of that name, of the runtime or the driver.
void count(const std::string& name);

// The calling thread's.
int& current_device();

}  // namespace thinwire::fake_cuda
