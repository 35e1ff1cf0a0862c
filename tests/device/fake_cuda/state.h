// State that the fake runtime and the fake driver share.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fake_cuda/fake_cuda.h"

// CUDA's handle of a stream.
struct CUstream_st {
  int device = 0;
  std::deque<std::function<void()>> work = {};
  std::optional<std::deque<std::function<void()>>> captured = {};  // if it is being captured
};

struct CUctx_st;  // a context, as the driver has it

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
  std::array<cudaStream_t, kDevices> default_streams{};  // those of them that have been named
  cudaError_t failure = cudaSuccess;                     // of the next thing that is enqueued
  std::array<int, kDevices> shared_bytes{kSharedBytes[0], kSharedBytes[1]};
  int launches = 0, processors = kProcessors;
  int blocks_a_processor = 2;  // of any kernel
  std::map<std::string, int> calls;
  std::map<const void*, std::string> kernels;  // by the host's functions of their names
  std::array<bool, kDevices> has_context{true, true};
};

State& state();

// Counts a call of that name, of the runtime or the driver.
void count(const std::string& name);

// Keeps an error as the calling thread's last one, if it is one; returns it.
cudaError_t note(cudaError_t error);

// The calling thread's.
int& current_device();

// A context is its device's number and 1.
inline CUctx_st* context_of(int device) {
  return reinterpret_cast<CUctx_st*>(static_cast<std::uintptr_t>(device + 1));
}
inline int device_of(CUctx_st* context) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1;
}

}  // namespace thinwire::fake_cuda
