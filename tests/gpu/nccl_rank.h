// One rank of the tests over NCCL: a thread with a GPU of its own, and memory there.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/outcome.h"
#include "transport/stream_transport.h"

namespace thinwire::nccl_test {

inline constexpr int kRanks = 2;

// Ends the process: the other rank may be waiting for this one for ever.
[[noreturn]] inline void fail(const std::string& what) {
  std::printf("FAILED: %s\n", what.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

inline void expect(bool holds, const std::string& what) {
  if (!holds) fail(what);
}

inline void cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}

inline void good(const Status& status, const std::string& what) {
  if (!status.ok()) fail(what + ": " + status.message());
}

// NCCL's functions that the transport has no use for.
struct Nccl {
  decltype(&ncclCommInitAll) init_all;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclGetErrorString) error_string;

  void check(ncclResult_t result, const char* what) const {
    if (result != ncclSuccess) fail(std::string(what) + ": " + error_string(result));
  }
};

struct Rank {
  int number;
  cudaStream_t stream;
  ncclComm_t communicator;
  transport::StreamTransport* transport;
  std::barrier<>* all;
  const Nccl* nccl;

  void meet() const { all->arrive_and_wait(); }
  void finish() const { cuda(cudaStreamSynchronize(stream), "the stream"); }
  bool speaks() const { return number == 0; }
};

// Memory of the thread's current GPU; freed by nobody while another rank may be at work, because
// every test ends with a meeting.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::uint64_t bytes) : bytes_(bytes) {
    cuda(cudaMalloc(&data_, bytes > 0 ? bytes : 1), "cudaMalloc");
    cuda(cudaMemset(data_, 0xA5, bytes > 0 ? bytes : 1), "cudaMemset");
    cuda(cudaDeviceSynchronize(), "cudaMemset");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }

  void write(const std::vector<float>& values, cudaStream_t stream) const {
    if (values.empty()) return;
    cuda(cudaMemcpyAsync(data_, values.data(), values.size() * sizeof(float), cudaMemcpyDefault,
                         stream),
         "write");
    cuda(cudaStreamSynchronize(stream), "write");
  }

  std::vector<float> read(cudaStream_t stream) const {
    std::vector<float> values(bytes_ / sizeof(float));
    if (values.empty()) return values;
    cuda(cudaMemcpyAsync(values.data(), data_, values.size() * sizeof(float), cudaMemcpyDefault,
                         stream),
         "read");
    cuda(cudaStreamSynchronize(stream), "read");
    return values;
  }

 private:
  void* data_ = nullptr;
  std::uint64_t bytes_;
};

class PinnedWords {
 public:
  explicit PinnedWords(std::uint32_t count) : count_(count) {
    void* data = nullptr;
    cuda(cudaHostAlloc(&data, (count + 1) * sizeof(device::Outcome),
                       cudaHostAllocPortable | cudaHostAllocMapped),
         "cudaHostAlloc");
    data_ = static_cast<device::Outcome*>(data);
    clear();
  }
  ~PinnedWords() { cudaFreeHost(data_); }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;

  device::Outcome* data() const { return data_; }
  void clear() const { std::memset(data_, 0, count_ * sizeof(device::Outcome)); }

 private:
  device::Outcome* data_;
  std::uint32_t count_;
};

// The same on all ranks, another for each rank and round.
inline std::vector<float> smooth(int rank, int round, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t at = 0; at < count; ++at) {
    values[at] = static_cast<float>(rank + 2 + round) *
                 std::sin(static_cast<float>(at % 1000003) * 0.003F + static_cast<float>(round));
  }
  return values;
}

// Bits of no order; NaN and infinity are among them.
inline std::vector<float> noise(int rank, std::size_t count) {
  std::vector<float> values(count);
  std::uint64_t state = 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(rank + 1);
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<std::uint32_t>(state >> 32);
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}

inline bool same_bits(const float* one, const float* other, std::size_t count) {
  return count == 0 || std::memcmp(one, other, count * sizeof(float)) == 0;
}

// ---- The tests; all ranks call each of them at the same time ----

void test_allgather(const Rank& rank);
void test_allreduce(const Rank& rank);
void test_sized_messages(const Rank& rank);

}  // namespace thinwire::nccl_test
