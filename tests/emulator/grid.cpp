#include "grid.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "indices.h"
#include "lanes.h"

namespace thinwire::codec::cuda {

// Kernels name it with `extern __shared__`.
alignas(16) thread_local std::uint64_t shared_words[227 * 1024 / 8];

}  // namespace thinwire::codec::cuda

namespace thinwire::emulator {
namespace {

// Shared memory begins with whatever was there.
constexpr int kGarbage = 0xA5;

struct Launch {
  unsigned blocks, layers, threads;
  std::size_t shared_bytes;
  const std::function<void()>& kernel;
  std::atomic<std::uint64_t> next{0};
};

void run_blocks(Launch& launch) {
  const std::uint64_t all = std::uint64_t{launch.blocks} * launch.layers;
  for (std::uint64_t at = launch.next++; at < all; at = launch.next++) {
    gridDim = {launch.blocks, launch.layers, 1};
    blockDim = {launch.threads, 1, 1};
    blockIdx = {static_cast<unsigned>(at % launch.blocks),
                static_cast<unsigned>(at / launch.blocks), 0};
    std::memset(codec::cuda::shared_words, kGarbage, launch.shared_bytes);
    run_block(launch.threads, launch.kernel);
  }
}

// A thread that stays, as its stacks and its shared memory do.
class Worker {
 public:
  Worker() {
    std::thread([this] { work(); }).detach();
  }

  void begin(Launch& launch) {
    const std::lock_guard lock(mutex_);
    launch_ = &launch;
    changed_.notify_one();
  }

  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return launch_ == nullptr; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return launch_ != nullptr; });
      lock.unlock();
      run_blocks(*launch_);
      lock.lock();
      launch_ = nullptr;
      changed_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Launch* launch_ = nullptr;
};

}  // namespace

void run_grid(unsigned blocks, unsigned layers, unsigned threads, std::size_t shared_bytes,
              const std::function<void()>& kernel) {
  static auto* const one_kernel = new std::mutex;
  static auto* const others = new std::array<std::unique_ptr<Worker>, kBlocksAtOnce - 1>;
  const std::lock_guard lock(*one_kernel);
  Launch launch{blocks, layers, threads, shared_bytes, kernel};
  const std::uint64_t all = std::uint64_t{blocks} * layers;
  const auto helping = std::min<std::uint64_t>(all == 0 ? 0 : all - 1, kBlocksAtOnce - 1);
  for (std::uint64_t at = 0; at < helping; ++at) {
    auto& worker = (*others)[at];
    if (worker == nullptr) worker = std::make_unique<Worker>();
    worker->begin(launch);
  }
  run_blocks(launch);
  for (std::uint64_t at = 0; at < helping; ++at) (*others)[at]->finish();
}

}  // namespace thinwire::emulator
