// State that the fake runtime and the fake driver share.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fake_cuda/fake_cuda.h"

namespace thinwire::fake_cuda {

inline constexpr int kPinned = -1;

struct Memory {
  int device;  // or kPinned
  std::size_t bytes;
};

struct State {
  std::recursive_mutex mutex;
  std::map<std::byte*, Memory> memory;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  cudaError_t failure = cudaSuccess;  // of the next thing that is enqueued
  int launches = 0;
  std::array<bool, kDevices> has_context{true, true};
};

State& state();

// The calling thread's.
int& current_device();

}  // namespace thinwire::fake_cuda
