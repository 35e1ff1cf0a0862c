#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>

#include "collective/data.h"
#include "nccl/device.h"

namespace thinwire::bench::nccl {
namespace {

using HostFunction = void (*)(void*);

template <typename Function>
Function find(const Library& library, const char* name) {
  const auto found = reinterpret_cast<Function>(library.function(name));
  if (found == nullptr) throw std::runtime_error(std::string("this NCCL has no ") + name);
  return found;
}

class HostDevice : public Device {
 public:
  explicit HostDevice(const Library& library)
      : launch_(find<decltype(launch_)>(library, "cudaLaunchHostFunc")),
        wait_(find<decltype(wait_)>(library, "cudaStreamSynchronize")),
        destroy_(find<decltype(destroy_)>(library, "cudaStreamDestroy")) {
    if (find<int (*)(cudaStream_t*)>(library, "cudaStreamCreate")(&stream_) != 0) {
      throw std::runtime_error("no stream");
    }
  }
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;
  ~HostDevice() override { destroy_(stream_); }

  void* allocate(std::size_t bytes) override {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }

  void write(void* to, std::span<const char> from) override {
    std::memcpy(to, from.data(), from.size());
  }
  void read(std::span<char> to, const void* from) override {
    std::memcpy(to.data(), from, to.size());
  }
  void clear(void* to, std::size_t bytes) override { std::memset(to, 0xff, bytes); }
  void zero(void* to, std::size_t bytes) override { std::memset(to, 0, bytes); }

  void* allocate_host(std::size_t bytes) override { return allocate(bytes); }
  void release_host(void* memory) noexcept override { release(memory); }

  void copy(void* to, const void* from, std::size_t bytes) override {
    enqueue([=] { std::memcpy(to, from, bytes); });
  }
  void add(void* into, const void* from, std::int64_t count, tw_dtype dtype) override {
    enqueue([=] {
      const std::int64_t width = size_of(dtype);
      for (std::int64_t at = 0; at < count * width; at += width) {
        char* const sum = static_cast<char*>(into) + at;
        const double other = number_at(dtype, static_cast<const char*>(from) + at);
        put_number(dtype, number_at(dtype, sum) + other, sum);
      }
    });
  }

  void launch_nothing(bool) override {
    launch_(stream_, [](void*) {}, nullptr);
  }

  cudaStream_t stream() override { return stream_; }
  void synchronize() override { wait_(stream_); }
  std::string name() const override { return ""; }
  bool is_gpu() const override { return false; }
  void query() override {}

 private:
  void enqueue(std::function<void()> work) {
    auto* const held = new std::function<void()>(std::move(work));
    launch_(
        stream_,
        [](void* argument) {
          const std::unique_ptr<std::function<void()>> work(
              static_cast<std::function<void()>*>(argument));
          (*work)();
        },
        held);
  }

  int (*launch_)(cudaStream_t, HostFunction, void*);
  int (*wait_)(cudaStream_t);
  int (*destroy_)(cudaStream_t);
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> make_host_device(const Library& library) {
  return std::make_unique<HostDevice>(library);
}

#ifndef THINWIRE_CUDA
std::unique_ptr<Device> make_gpu_device(int) {
  throw std::runtime_error("this build has no GPU side: it was made without nvcc");
}
#endif

}  // namespace thinwire::bench::nccl
