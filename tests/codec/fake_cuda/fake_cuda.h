// A thread block of CUDA on the host: its threads take turns in one thread, each until it meets
// others at a barrier or in what a warp does together. Included before the headers of kernels.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __device__
#define __shared__
#define __global__

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

namespace thinwire::testing {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

// A group of threads that meet: what each brought to their last meetings.
struct Meeting {
  unsigned members = 0, here = 0;
  std::uint64_t number = 0;
  std::array<std::array<std::uint64_t, 32>, 2> brought{};
};

class FakeBlock {
 public:
  // Runs `kernel` by so many threads. False if some wait for others that have ended.
  bool run(unsigned threads, std::function<void()> kernel);

  // For threads of the block: waits for the own warp, then returns what its lanes brought.
  const std::array<std::uint64_t, 32>& meet_warp(std::uint64_t brings);
  void meet_block() { meet(block_, 0, 0); }

  static FakeBlock& current() { return *current_; }

 private:
  struct Thread {
    ucontext_t context{};
    std::vector<char> stack;
    bool ended = false;
  };

  static void begin();
  void meet(Meeting& meeting, unsigned lane, std::uint64_t brings);

  static inline FakeBlock* current_ = nullptr;
  std::function<void()> kernel_;
  ucontext_t scheduler_{};
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Meeting> warps_;
  Meeting block_;
  unsigned running_ = 0;
  std::uint64_t moves_ = 0;  // meetings that were complete, and threads that ended
};

}  // namespace thinwire::testing

inline thinwire::testing::Index threadIdx, blockIdx, blockDim, gridDim;

namespace thinwire::testing {

inline void FakeBlock::begin() {
  current_->kernel_();
  current_->threads_[current_->running_]->ended = true;
  ++current_->moves_;
}

inline bool FakeBlock::run(unsigned threads, std::function<void()> kernel) {
  constexpr std::size_t kStackBytes = 256 * 1024;
  current_ = this;
  kernel_ = std::move(kernel);
  warps_.assign(threads / 32, Meeting{.members = 32});
  block_ = {.members = threads};
  blockDim.x = threads;
  threads_.clear();
  for (unsigned number = 0; number < threads; ++number) {
    auto& thread = *threads_.emplace_back(std::make_unique<Thread>());
    thread.stack.resize(kStackBytes);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.data();
    thread.context.uc_stack.ss_size = thread.stack.size();
    thread.context.uc_link = &scheduler_;
    makecontext(&thread.context, begin, 0);
  }
  for (bool all_ended = false; !all_ended;) {
    const std::uint64_t before = moves_;
    all_ended = true;
    for (running_ = 0; running_ < threads; ++running_) {
      if (threads_[running_]->ended) continue;
      threadIdx.x = running_;
      swapcontext(&scheduler_, &threads_[running_]->context);
      all_ended = all_ended && threads_[running_]->ended;
    }
    if (!all_ended && moves_ == before) return false;
  }
  return true;
}

inline void FakeBlock::meet(Meeting& meeting, unsigned lane, std::uint64_t brings) {
  const std::uint64_t number = meeting.number;
  meeting.brought[number % 2][lane] = brings;
  if (++meeting.here == meeting.members) {
    meeting.here = 0;
    ++meeting.number;
    ++moves_;
    return;
  }
  while (meeting.number == number) {
    swapcontext(&threads_[running_]->context, &scheduler_);
  }
}

inline const std::array<std::uint64_t, 32>& FakeBlock::meet_warp(std::uint64_t brings) {
  Meeting& warp = warps_[threadIdx.x / 32];
  const std::uint64_t number = warp.number;
  meet(warp, threadIdx.x % 32, brings);
  return warp.brought[number % 2];
}

}  // namespace thinwire::testing

// ---- What kernels call ----

using std::max;
using std::min;

inline void __syncthreads() { thinwire::testing::FakeBlock::current().meet_block(); }
inline void __syncwarp() { thinwire::testing::FakeBlock::current().meet_warp(0); }

inline unsigned __ballot_sync(unsigned, bool is) {
  const auto& all = thinwire::testing::FakeBlock::current().meet_warp(is);
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) lanes |= static_cast<unsigned>(all[lane]) << lane;
  return lanes;
}
inline bool __any_sync(unsigned mask, bool is) { return __ballot_sync(mask, is) != 0; }
inline bool __all_sync(unsigned mask, bool is) { return __ballot_sync(mask, is) == 0xffffffffu; }

template <typename Number>
Number __shfl_sync(unsigned, Number number, int from) {
  return static_cast<Number>(thinwire::testing::FakeBlock::current().meet_warp(number)[from % 32]);
}
template <typename Number>
Number __shfl_up_sync(unsigned mask, Number number, unsigned distance) {
  const unsigned lane = threadIdx.x % 32;
  return __shfl_sync(mask, number, static_cast<int>(lane < distance ? lane : lane - distance));
}
template <typename Number>
Number __shfl_xor_sync(unsigned mask, Number number, unsigned other) {
  return __shfl_sync(mask, number, static_cast<int>(threadIdx.x % 32 ^ other));
}
inline unsigned __match_any_sync(unsigned, unsigned value) {
  const auto& all = thinwire::testing::FakeBlock::current().meet_warp(value);
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) lanes |= unsigned{all[lane] == value} << lane;
  return lanes;
}

inline int __popc(unsigned number) { return std::popcount(number); }
inline int __ffs(int number) {
  return number == 0 ? 0 : std::countr_zero(static_cast<unsigned>(number)) + 1;
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned pick) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  unsigned bytes = 0;
  for (unsigned at = 0; at < 4; ++at) {
    bytes |= static_cast<unsigned>(both >> (8 * (pick >> (4 * at) & 7)) & 0xff) << (8 * at);
  }
  return bytes;
}
inline unsigned atomicAdd(unsigned* at, unsigned number) {
  const unsigned before = *at;
  *at += number;
  return before;
}
