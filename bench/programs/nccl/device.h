// Places of the buffers, and what is enqueued on the stream besides NCCL's calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "nccl/library.h"
#include "thinwire/thinwire.h"

namespace thinwire::bench::nccl {

// One rank's memory and stream. Calls throw std::runtime_error.
class Device {
 public:
  virtual ~Device() = default;

  virtual void* allocate(std::size_t bytes) = 0;  // given back by release()
  virtual void release(void* memory) noexcept = 0;

  // Done on return, whatever the stream does.
  virtual void write(void* to, std::span<const char> from) = 0;
  virtual void read(std::span<char> to, const void* from) = 0;
  virtual void clear(void* to, std::size_t bytes) = 0;  // makes every value NaN
  virtual void zero(void* to, std::size_t bytes) = 0;

  // Host memory that a GPU reads and writes at full speed; given back by release_host().
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(void* memory) noexcept = 0;

  // On the stream. Sums of 16-bit floats are rounded once.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void add(void* into, const void* from, std::int64_t count, tw_dtype dtype) = 0;
  // Does nothing, by a kernel of one thread; `large`: with as many arguments as a kernel may have.
  virtual void launch_nothing(bool large) = 0;

  virtual cudaStream_t stream() = 0;
  virtual void synchronize() = 0;
  virtual std::string name() const = 0;  // of the GPU; empty for host memory
  virtual bool is_gpu() const = 0;
  virtual void query() = 0;  // all properties of the GPU, as programs that do not keep them
};

// Host memory and a stream of an NCCL over it.
std::unique_ptr<Device> make_host_device(const Library& library);
// GPU `local_rank` modulo their number.
std::unique_ptr<Device> make_gpu_device(int local_rank);

// Memory of a device, for as long as that is there.
class Buffer {
 public:
  Buffer(Device& device, std::size_t bytes)
      : device_(device), bytes_(bytes), memory_(device.allocate(bytes == 0 ? 8 : bytes)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { device_.release(memory_); }

  char* at(std::size_t offset = 0) const { return static_cast<char*>(memory_) + offset; }
  std::size_t bytes() const { return bytes_; }
  void clear() { device_.clear(memory_, bytes_); }

 private:
  Device& device_;
  std::size_t bytes_;
  void* memory_;
};

// Host memory of a device, likewise.
class HostBuffer {
 public:
  HostBuffer(Device& device, std::size_t bytes)
      : device_(device), bytes_(bytes), memory_(device.allocate_host(bytes == 0 ? 8 : bytes)) {}
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer() { device_.release_host(memory_); }

  char* at() const { return static_cast<char*>(memory_); }
  std::size_t bytes() const { return bytes_; }
  // Its first bytes.
  std::span<char> part(std::size_t bytes) const { return {at(), bytes}; }

 private:
  Device& device_;
  std::size_t bytes_;
  void* memory_;
};

}  // namespace thinwire::bench::nccl
