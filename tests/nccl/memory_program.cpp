// An NCCL program during which memory runs out on the last rank. Every call must succeed, with the
// right values. Prints "ok".
//
// memory_program groups   groups of six calls; nothing is left after the first ones have been made
// memory_program little   the same, if from the start there is memory for one call alone
// memory_program returns  nothing is left from the start, and after a while there is memory again
// memory_program streams  nothing is left of the device's; then calls come on a second stream while
//                         the first one is held
// memory_program larger   nothing is left of the device's; then groups are of six calls, not of two
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "ranks.h"

namespace {

constexpr int kRanks = 2;
// On a GPU more than the library has idle from loading its kernels.
constexpr std::size_t kCount = world::kOnGpus ? 32 << 20 : 100'000;
constexpr std::size_t kChanging = 4096;  // elements that are others in each step
constexpr int kCalls = 6;
constexpr int kSteps = 150;
constexpr int kTried = 10;  // steps: more than there are sample encodes in a row

// The others would wait for this rank for ever.
void expect(bool holds, const char* what, int rank, int step) {
  if (holds) return;
  std::fprintf(stderr, "rank %d, step %d: wrong: %s\n", rank, step, what);
  std::_Exit(1);
}

// ---- What is left of memory, on this thread ----

#ifdef NCCL_ON_GPUS

void take_all_of_device() {
  // Down to what CUDA itself takes at a time: compressed blocks need little.
  for (std::size_t bytes = std::size_t{1} << 30; bytes >= 1 << 20;) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) bytes /= 2;
  }
  cudaGetLastError();
}
void take_all() { take_all_of_device(); }

#else

constexpr std::size_t kLarge = 256 << 10;
constexpr std::size_t kSlab = 4 << 20;  // of records and mailboxes, which are no device's memory

enum class Left { kAll, kHost, kOne, kNone };
thread_local Left t_left = Left::kAll;
thread_local std::set<std::size_t> t_refused;

void take_all_of_device() { t_left = Left::kHost; }
void take_all() { t_left = Left::kNone; }

// There is one kind of memory here. Who asks for as much again asks the host for what the device
// has refused.
bool is_granted(std::size_t bytes) {
  if (bytes < kLarge || bytes == kSlab) return true;
  if (t_left == Left::kHost) return !t_refused.insert(bytes).second;
  return t_left == Left::kAll || (t_left == Left::kOne && t_refused.insert(0).second);
}

#endif

}  // namespace

#ifndef NCCL_ON_GPUS
// The library's memory comes from here.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  void* memory = nullptr;
  return is_granted(bytes) && posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}
#endif

namespace {

// ---- Calls ----

// Three sizes, each in a kind of its own.
std::size_t count_of(int call) { return kCount >> (call % 3); }

float value(int rank, int step, std::size_t at) {
  const auto changing = at < kChanging ? static_cast<std::size_t>(step) : 0;
  return static_cast<float>((at / 64 + changing) % 512 + 100U * static_cast<unsigned>(rank));
}

class Program {
 public:
  explicit Program(ranks::Rank& self) : self_(self) {
    std::vector<float> values(kCount);
    for (std::size_t at = 0; at < kCount; ++at) values[at] = value(self.rank, 0, at);
    send_ = arena_.take(kCount * sizeof(float));
    world::write(send_, values.data(), kCount * sizeof(float));
    for (std::byte*& each : receive_) each = arena_.take(kRanks * kCount * sizeof(float));
    cudaStreamCreate(&other_);
    gather(0, self.stream);
    self.synchronize();
    // Long enough for ranks to find each other.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  ~Program() { cudaStreamDestroy(other_); }

  bool is_short() const { return self_.rank == kRanks - 1; }

  void group(int calls) {
    begin_step();
    expect(ncclGroupStart() == ncclSuccess, "a group's begin", self_.rank, step_);
    for (int call = 0; call < calls; ++call) gather(call, self_.stream);
    expect(ncclGroupEnd() == ncclSuccess, "a group's end", self_.rank, step_);
    end_step(calls);
  }

  void alone() {
    begin_step();
    gather(0, self_.stream);
    end_step(1);
  }

  // The second is made before the first has begun.
  void on_two_streams() {
    begin_step();
    std::atomic<bool> open{false};
    const auto wait = [](void* open) {
      while (!*static_cast<std::atomic<bool>*>(open)) std::this_thread::yield();
    };
    cudaLaunchHostFunc(self_.stream, wait, &open);
    gather(0, self_.stream);
    gather(3, other_);
    open = true;
    cudaStreamSynchronize(other_);
    end_step(1);
    check(3);
  }

 private:
  void begin_step() {
    ++step_;
    std::vector<float> values(kChanging);
    for (std::size_t at = 0; at < kChanging; ++at) values[at] = value(self_.rank, step_, at);
    world::write(send_, values.data(), kChanging * sizeof(float));
  }

  void gather(int call, cudaStream_t stream) {
    const ncclResult_t result =
        ncclAllGather(send_, receive_[call], count_of(call), ncclFloat32, self_.comm, stream);
    expect(result == ncclSuccess, "a call", self_.rank, step_);
  }

  void end_step(int calls) {
    self_.synchronize();
    for (int call = 0; call < calls; ++call) check(call);
  }

  void check(int call) {
    const std::size_t count = count_of(call);
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::byte* const from =
          receive_[call] + static_cast<std::size_t>(rank) * count * sizeof(float);
      for (const std::size_t begin : {std::size_t{0}, count - kChanging}) {
        float got[kChanging];
        world::read(got, from + begin * sizeof(float), sizeof got);
        for (std::size_t at = 0; at < kChanging; at += 61) {
          expect(got[at] == value(rank, step_, begin + at), "a value", self_.rank, step_);
        }
      }
    }
  }

  ranks::Rank& self_;
  world::Arena arena_;
  cudaStream_t other_{};
  std::byte* send_ = nullptr;
  std::byte* receive_[kCalls] = {};
  int step_ = 0;
};

#ifndef NCCL_ON_GPUS
// Calls of the time without memory, and many more after it.
void run_returning(ranks::Rank& self) {
  constexpr int kLater = 2000;
  if (self.rank == kRanks - 1) t_left = Left::kNone;
  Program program(self);
  for (int step = 0; step < kSteps; ++step) {
    program.alone();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  t_left = Left::kAll;
  for (int step = 0; step < kLater; ++step) program.alone();
}
#endif

void run(ranks::Rank& self, const std::string& way) {
#ifndef NCCL_ON_GPUS
  if (way == "returns") return run_returning(self);
  if (way == "little" && self.rank == kRanks - 1) t_left = Left::kOne;
#endif
  Program program(self);
  const bool groups = way == "groups" || way == "little";
  const int before = groups ? kTried : kSteps;
  for (int step = 0; step < before; ++step) {
    if (way == "streams") program.alone();
    if (way == "larger") program.group(2);
    if (groups) program.group(kCalls);
    // Ranks have agreed on calls by then, also on a busy machine.
    if (!groups) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (program.is_short() && way == "groups") take_all();
  if (program.is_short() && !groups) take_all_of_device();
  for (int step = 0; step < kSteps; ++step) {
    way == "streams" ? program.on_two_streams() : program.group(kCalls);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  ranks::run(kRanks, [&](ranks::Rank& self) { run(self, words[1]); });
  std::puts("ok");
  return 0;
}
