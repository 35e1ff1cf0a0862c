#include "lanes.h"

#include <cuda_pipeline.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

#include "indices.h"
#include "turns.h"

namespace thinwire::emulator {
namespace {

enum class Wait : std::uint8_t { kNone, kBarrier, kWarp, kOthers, kEnd };

struct Lane {
  Wait wait = Wait::kEnd;
  unsigned mask = 0;  // of the exchange that it waits for, or of the lanes found active with it
  std::vector<std::vector<Copy>> copies;
};

// The lanes of one mask that meet. Values of two exchanges: some still read those of the last.
struct Group {
  unsigned arrived = 0, side = 0;
  std::uint64_t value[2][kWarpLanes];
  unsigned nonzero[2];
};

class Block {
 public:
  void run(unsigned threads, const std::function<void()>& kernel);
  Told exchange(unsigned mask, std::uint64_t own);
  Counted meet(bool own);
  unsigned active();
  std::vector<std::vector<Copy>>& copies() { return lanes_[turns_.current()].copies; }

 private:
  void pass();
  void gather_active();
  void end_of_lane();
  void open_barrier();
  unsigned lanes_of(unsigned warp) const;
  [[noreturn]] void give_up() const;

  Turns turns_;
  std::unique_ptr<Lane[]> lanes_ = std::make_unique<Lane[]>(kMostThreads);
  std::unordered_map<unsigned, Group> groups_[kMostThreads / kWarpLanes];  // by mask
  unsigned threads_ = 0, ended_ = 0, at_barrier_ = 0, nonzero_ = 0;
  Counted counted_{};
  const std::function<void()> end_ = [this] { end_of_lane(); };
};

[[gnu::tls_model("initial-exec")]] thread_local Block* running = nullptr;

void Block::run(unsigned threads, const std::function<void()>& kernel) {
  threads_ = threads;
  ended_ = at_barrier_ = nonzero_ = 0;
  for (auto& groups : groups_) groups.clear();
  for (unsigned number = 0; number < threads; ++number) {
    lanes_[number].wait = Wait::kNone;
    lanes_[number].copies.resize(1);
    lanes_[number].copies[0].clear();
  }
  turns_.run(threads, kernel, end_);
}

// Gives the turn away until what the thread waits for is there.
void Block::pass() {
  if (turns_.wait()) return;
  gather_active();
  if (!turns_.wait()) give_up();
}

// Lets the lanes go on that wait for others of their warp to come: no more will.
void Block::gather_active() {
  unsigned masks[kMostThreads / kWarpLanes] = {};
  for (unsigned number = 0; number < threads_; ++number) {
    if (lanes_[number].wait != Wait::kOthers) continue;
    masks[number / kWarpLanes] |= 1u << number % kWarpLanes;
    lanes_[number].wait = Wait::kNone;
    turns_.make_ready(number);
  }
  for (unsigned number = 0; number < threads_; ++number) {
    const unsigned mask = masks[number / kWarpLanes];
    if ((mask >> number % kWarpLanes & 1) != 0) lanes_[number].mask = mask;
  }
}

unsigned Block::active() {
  Lane& lane = lanes_[turns_.current()];
  lane.wait = Wait::kOthers;
  pass();
  return lane.mask;
}

// Those at the barrier do not wait for it any longer.
void Block::end_of_lane() {
  lanes_[turns_.current()].wait = Wait::kEnd;
  if (++ended_ == threads_) return turns_.finish();
  if (at_barrier_ != 0 && at_barrier_ + ended_ == threads_) open_barrier();
  pass();
}

void Block::open_barrier() {
  counted_ = {nonzero_, at_barrier_};
  at_barrier_ = nonzero_ = 0;
  for (unsigned number = 0; number < threads_; ++number) {
    if (lanes_[number].wait != Wait::kBarrier) continue;
    lanes_[number].wait = Wait::kNone;
    turns_.make_ready(number);
  }
}

// The last to come queues with the others, so that their order holds after it, too.
Counted Block::meet(bool own) {
  ++at_barrier_;
  nonzero_ += own ? 1 : 0;
  lanes_[turns_.current()].wait = Wait::kBarrier;
  if (at_barrier_ + ended_ == threads_) open_barrier();
  pass();
  return counted_;
}

unsigned Block::lanes_of(unsigned warp) const {
  const unsigned left = threads_ - warp * kWarpLanes;
  return left >= kWarpLanes ? ~0u : (1u << left) - 1;
}

Told Block::exchange(unsigned mask, std::uint64_t own) {
  const unsigned thread = turns_.current(), warp = thread / kWarpLanes, lane = thread % kWarpLanes;
  const unsigned present = mask & lanes_of(warp);
  Group& group = groups_[warp][present];  // stays where it is: lanes read from it
  const unsigned side = group.side;
  if (group.arrived == 0) group.nonzero[side] = 0;
  group.arrived |= 1u << lane;
  group.value[side][lane] = own;
  group.nonzero[side] |= own != 0 ? 1u << lane : 0;
  lanes_[thread].mask = present;
  lanes_[thread].wait = Wait::kWarp;
  if (group.arrived == present) {
    group.arrived = 0;
    group.side ^= 1;
    for (unsigned left = present; left != 0; left &= left - 1) {
      const unsigned number = warp * kWarpLanes + static_cast<unsigned>(std::countr_zero(left));
      lanes_[number].wait = Wait::kNone;
      turns_.make_ready(number);
    }
  }
  pass();
  return {group.value[side], present, group.nonzero[side]};
}

void Block::give_up() const {
  static constexpr const char* kWaits[] = {"for nothing", "at a barrier", "for its warp",
                                           "for lanes to be active", "no more"};
  std::fprintf(stderr, "a kernel cannot end: block %u of %u\n", blockIdx.x, gridDim.x);
  for (unsigned number = 0; number < threads_; ++number) {
    const Lane& lane = lanes_[number];
    std::fprintf(stderr, "  thread %u waits %s, mask %08x\n", number,
                 kWaits[static_cast<int>(lane.wait)], lane.mask);
  }
  std::abort();
}

}  // namespace

void run_block(unsigned threads, const std::function<void()>& kernel) {
  // A block a thread of the host.
  static thread_local Block* const block = new Block;
  running = block;
  block->run(threads, kernel);
  running = nullptr;
}

// The host calls functions of kernels, too, as if on the only lane of a warp.
Told exchange(unsigned mask, std::uint64_t own) {
  if (running != nullptr) return running->exchange(mask, own);
  static thread_local std::uint64_t value;
  value = own;
  return {&value, 1, own != 0 ? 1u : 0u};
}

Counted meet(bool own) { return running->meet(own); }

unsigned active() { return running == nullptr ? 1 : running->active(); }

std::vector<std::vector<Copy>>& copies() { return running->copies(); }

}  // namespace thinwire::emulator
