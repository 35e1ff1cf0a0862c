// Runs one function of a codec's core on the host and in a kernel, on the same inputs, and
// compares.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "device/launch.h"
#include "stages.h"

namespace thinwire::stages {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <typename T>
class DeviceVector {
 public:
  explicit DeviceVector(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)));
    // Bytes that no stage leaves behind, so that a result which nobody wrote differs.
    check(cudaMemset(data_, 0xC5, count * sizeof(T)));
  }
  explicit DeviceVector(const std::vector<T>& host) : DeviceVector(host.size()) {
    check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;
  ~DeviceVector() { cudaFree(data_); }

  T* data() const { return data_; }
  std::vector<T> to_host() const {
    std::vector<T> host(count_);
    check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

template <typename T>
std::size_t count_differences(const std::vector<T>& left, const std::vector<T>& right) {
  static_assert(std::has_unique_object_representations_v<T>, "padding would be compared");
  std::size_t differing = left.size() == right.size() ? 0 : left.size() + right.size();
  for (std::size_t at = 0; at < left.size() && at < right.size(); ++at) {
    differing += std::memcmp(&left[at], &right[at], sizeof(T)) != 0;
  }
  return differing;
}

template <typename T>
void report_results(Report& report, const std::string& name, const std::vector<T>& expected,
                    const std::vector<T>& found) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(found.data());
  std::uint64_t digest = 0xcbf29ce484222325u;  // FNV-1a
  for (std::size_t at = 0; at < found.size() * sizeof(T); ++at) {
    digest = (digest ^ bytes[at]) * 0x100000001b3u;
  }
  report.add(name, count_differences(expected, found), found.size(), digest);
}

// Runs a kernel on the default stream, and waits for it.
template <typename... Parameters>
void run_kernel(void (*kernel)(Parameters...), const device::Grid& grid,
                std::type_identity_t<Parameters>... arguments) {
  const Status started =
      device::launch("cannot start a stage", kernel, grid, nullptr, arguments...);
  if (!started.ok()) throw std::runtime_error(started.message());
  check(cudaDeviceSynchronize());
}

template <typename Stage>
__global__ void run_stage(const typename Stage::In* in, typename Stage::Out* out, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < count) Stage::run(in[at], out[at]);
}

// `Stage` has In, Out (no padding) and a host-and-device run(in, out), which writes all of out.
template <typename Stage>
void compare(Report& report, const std::string& name,
             const std::vector<typename Stage::In>& inputs) {
  using Out = typename Stage::Out;
  std::vector<Out> expected(inputs.size());
  for (std::size_t at = 0; at < inputs.size(); ++at) Stage::run(inputs[at], expected[at]);
  const DeviceVector<typename Stage::In> in(inputs);
  const DeviceVector<Out> out(inputs.size());
  constexpr unsigned kThreads = 64;
  const std::size_t blocks = (inputs.size() + kThreads - 1) / kThreads;
  run_kernel(run_stage<Stage>, {blocks, kThreads}, in.data(), out.data(),
             static_cast<int>(inputs.size()));
  report_results(report, name, expected, out.to_host());
}

}  // namespace thinwire::stages
