// Calls of NCCL that are captured in a CUDA graph between others that are not: both sorts come to
// the right values, the captured ones at each replay. Prints "ok".
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "random_values.h"
#include "ranks.h"

namespace random_program {
namespace {

constexpr std::size_t kCount = 20'000;
constexpr std::size_t kBytes = kCount * sizeof(float);
constexpr int kAgree = 340;

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  ++failures;
}

void cuda(cudaError_t error, const char* what) {
  expect(error == cudaSuccess, std::string(what) + ": " + cudaGetErrorString(error));
}

// A gather, a sum and a message to the next rank, of the same values.
class Calls {
 public:
  explicit Calls(ranks::Rank& self) : self_(self) {}

  void put(std::uint32_t id) {
    id_ = id;
    Bytes mine(kBytes);
    for (std::size_t at = 0; at < kCount; ++at)
      store(mine, at, ncclFloat32, number(self_.rank, at));
    world::write(send_, mine.data(), kBytes);
    for (std::byte* each : {gathered_, summed_, got_}) {
      cuda(cudaMemsetAsync(each, 0xA5, kBytes, self_.stream), "cudaMemsetAsync");
    }
  }

  void make() {
    ok(ncclAllGather(send_, gathered_, kCount, ncclFloat32, self_.comm, self_.stream));
    ok(ncclAllReduce(send_, summed_, kCount, ncclFloat32, ncclSum, self_.comm, self_.stream));
    ok(ncclGroupStart());
    ok(ncclSend(send_, kCount, ncclFloat32, next(), self_.comm, self_.stream));
    ok(ncclRecv(got_, kCount, ncclFloat32, last(), self_.comm, self_.stream));
    ok(ncclGroupEnd());
  }

  void check(const std::string& when) {
    self_.synchronize();
    Bytes gathered(static_cast<std::size_t>(self_.ranks) * kBytes), summed(kBytes), got(kBytes);
    for (std::size_t at = 0; at < kCount; ++at) {
      double sum = 0;
      for (int rank = 0; rank < self_.ranks; ++rank) {
        store(gathered, static_cast<std::size_t>(rank) * kCount + at, ncclFloat32,
              number(rank, at));
        sum += number(rank, at);
      }
      store(summed, at, ncclFloat32, sum);
      store(got, at, ncclFloat32, number(last(), at));
    }
    expect(gathered == world::read(gathered_, gathered.size()), "AllGather, " + when);
    expect(summed == world::read(summed_, kBytes), "AllReduce, " + when);
    expect(got == world::read(got_, kBytes), "Recv, " + when);
  }

  cudaGraphExec_t capture(cudaStreamCaptureMode mode) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    cuda(cudaStreamBeginCapture(self_.stream, mode), "cudaStreamBeginCapture");
    make();
    // The library's own thread has time to disturb.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cuda(cudaStreamEndCapture(self_.stream, &graph), "cudaStreamEndCapture");
    cuda(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
    cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return made;
  }

 private:
  static void ok(ncclResult_t result) {
    expect(result == ncclSuccess, "a call has returned " + std::to_string(result));
  }
  int next() const { return (self_.rank + 1) % self_.ranks; }
  int last() const { return (self_.rank + self_.ranks - 1) % self_.ranks; }
  double number(int rank, std::size_t at) const { return value(ncclFloat32, rank, id_, at, false); }

  ranks::Rank& self_;
  world::Arena arena_;
  std::byte* const send_ = arena_.take(kBytes);
  std::byte* const gathered_ = arena_.take(static_cast<std::size_t>(self_.ranks) * kBytes);
  std::byte* const summed_ = arena_.take(kBytes);
  std::byte* const got_ = arena_.take(kBytes);
  std::uint32_t id_ = 0;
};

void run(ranks::Rank& self) {
  Calls calls(self);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (std::uint32_t call = 0; call < kAgree; ++call) {
    if (call % 32 == 0) calls.put(call);
    calls.make();
    if (call % 32 == 31) calls.check("call " + std::to_string(call));
  }
  self.synchronize();
  std::uint32_t id = kAgree;
  for (const auto mode : {cudaStreamCaptureModeRelaxed, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeGlobal}) {
    const std::string name = "mode " + std::to_string(mode);
    const cudaGraphExec_t graph = calls.capture(mode);
    for (int time = 0; time < 3; ++time) {
      calls.put(++id);
      if (graph != nullptr) cuda(cudaGraphLaunch(graph, self.stream), "cudaGraphLaunch");
      calls.check("replay, " + name);
      calls.put(++id);
      calls.make();
      calls.check("between replays, " + name);
    }
    if (graph != nullptr) cuda(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
  }
}

}  // namespace
}  // namespace random_program

int main() {
  ranks::run(ranks::count(2), random_program::run);
  std::puts(random_program::failures == 0 ? "ok" : "failed");
  return random_program::failures == 0 ? 0 : 1;
}
