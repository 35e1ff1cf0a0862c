// CUDA's resources as objects, and errors of CUDA and Thinwire as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "thinwire/thinwire.h"

namespace thinwire::bench {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

inline void check(tw_status status) {
  if (status == TW_OK) return;
  throw std::runtime_error(std::string(tw_status_text(status)) + ": " + tw_last_error());
}

inline constexpr std::uint64_t kAlignment = 256;

inline std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Device memory.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::uint64_t bytes) : bytes_(bytes) {
    check(cudaMalloc(&data_, bytes > 0 ? bytes : 1));
  }
  DeviceBytes(DeviceBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  DeviceBytes& operator=(DeviceBytes&&) = delete;
  ~DeviceBytes() { cudaFree(data_); }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::uint64_t size() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::uint64_t bytes_;
};

// One word that the GPU writes and the host polls.
class PinnedWord {
 public:
  PinnedWord() { check(cudaMallocHost(reinterpret_cast<void**>(&word_), sizeof *word_)); }
  PinnedWord(const PinnedWord&) = delete;
  PinnedWord& operator=(const PinnedWord&) = delete;
  ~PinnedWord() { cudaFreeHost(word_); }

  std::uint64_t* get() const { return word_; }
  void clear() const { __atomic_store_n(word_, 0, __ATOMIC_RELEASE); }
  std::uint64_t load() const { return __atomic_load_n(word_, __ATOMIC_ACQUIRE); }

 private:
  std::uint64_t* word_ = nullptr;
};

// Waits for no other stream.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const { return stream_; }
  void finish() const { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  void record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get())); }
  double microseconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return 1e3 * milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace thinwire::bench
