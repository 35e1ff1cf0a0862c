// Calls of NCCL that are captured in CUDA graphs, replayed between others that are not: a replay
// has the bits that the same calls have without a graph. Prints "ok".
//
// graphs_program REPLAYS [exact] [odd] [rough] [after]
// exact: the codec loses nothing, and results are compared with what they have to be, too
// odd: in every fifth turn values that no codec of a fixed rate takes. From the first of them on
// calls without a graph
//      may go raw, so graphs are compared with the first of them
// rough: as odd, with values of random bits, which take all the room that there is
// after: graphs end while the communicator is being ended, not before
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "random_values.h"
#include "ranks.h"

namespace random_program {
namespace {

constexpr std::size_t kCount = 20'000;
constexpr std::size_t kBytes = kCount * sizeof(float);
constexpr int kAgree = 340;

std::atomic<int> failures{0};
int replays = 0;
bool is_exact = false, is_odd = false, is_rough = false, ends_after = false;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  ++failures;
}

template <typename Error>
void cuda(Error error, const char* what) {
  expect(static_cast<int>(error) == 0, std::string(what) + ": " + std::to_string(error));
}

struct Results {
  Bytes gathered, summed, scattered, got;
  bool operator==(const Results&) const = default;
};

// A gather, two sums and a message to the next rank, of the same values.
class Calls {
 public:
  explicit Calls(ranks::Rank& self) : self_(self) {}

  void put(std::uint32_t id) {
    id_ = id;
    Bytes mine(all() * kBytes);
    for (std::size_t at = 0; at < all() * kCount; ++at) {
      store(mine, at, ncclFloat32, number(self_.rank, at));
    }
    world::write(send_, mine.data(), mine.size());
    const Bytes nothing(all() * kBytes, std::byte{0xA5});
    for (std::byte* each : {gathered_, summed_, scattered_, got_}) {
      world::write(each, nothing.data(), each == gathered_ ? nothing.size() : kBytes);
    }
  }

  void make() {
    ok("AllGather", ncclAllGather(send_, gathered_, kCount, ncclFloat32, self_.comm, self_.stream));
    ok("AllReduce",
       ncclAllReduce(send_, summed_, kCount, ncclFloat32, ncclSum, self_.comm, self_.stream));
    ok("ReduceScatter", ncclReduceScatter(send_, scattered_, kCount, ncclFloat32, ncclSum,
                                          self_.comm, self_.stream));
    ok("GroupStart", ncclGroupStart());
    ok("Send", ncclSend(send_, kCount, ncclFloat32, next(), self_.comm, self_.stream));
    ok("Recv", ncclRecv(got_, kCount, ncclFloat32, last(), self_.comm, self_.stream));
    ok("GroupEnd", ncclGroupEnd());
  }

  Results results() {
    self_.synchronize();
    return {world::read(gathered_, all() * kBytes), world::read(summed_, kBytes),
            world::read(scattered_, kBytes), world::read(got_, kBytes)};
  }

  Results expected() const {
    Results made{Bytes(all() * kBytes), Bytes(kBytes), Bytes(kBytes), Bytes(kBytes)};
    const std::size_t own = static_cast<std::size_t>(self_.rank) * kCount;
    for (std::size_t at = 0; at < kCount; ++at) {
      double sum = 0, of_block = 0;
      for (int rank = 0; rank < self_.ranks; ++rank) {
        store(made.gathered, static_cast<std::size_t>(rank) * kCount + at, ncclFloat32,
              number(rank, at));
        sum += number(rank, at);
        of_block += number(rank, own + at);
      }
      store(made.summed, at, ncclFloat32, sum);
      store(made.scattered, at, ncclFloat32, of_block);
      store(made.got, at, ncclFloat32, number(last(), at));
    }
    return made;
  }

  cudaGraphExec_t capture(cudaStreamCaptureMode mode) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    cuda(cudaStreamBeginCapture(self_.stream, mode), "cudaStreamBeginCapture");
    captured_ = true;
    make();
    captured_ = false;
    // The library's own thread has time to disturb.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cuda(cudaStreamEndCapture(self_.stream, &graph), "cudaStreamEndCapture");
    if (graph == nullptr) return nullptr;
    cuda(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
    cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return made;
  }

  bool has_odd_values() const { return id_ % 5 == 3; }

 private:
  void ok(const std::string& call, ncclResult_t result) const {
    expect(result == ncclSuccess, call + " has returned " + std::to_string(result));
    if (!captured_) return;
    auto state = cudaStreamCaptureStatusNone;
    cuda(cudaStreamIsCapturing(self_.stream, &state), "cudaStreamIsCapturing");
    expect(state == cudaStreamCaptureStatusActive, "the capture is invalid behind " + call);
  }
  std::size_t all() const { return static_cast<std::size_t>(self_.ranks); }
  int next() const { return (self_.rank + 1) % self_.ranks; }
  int last() const { return (self_.rank + self_.ranks - 1) % self_.ranks; }
  double number(int rank, std::size_t at) const {
    const bool is_none = is_odd && has_odd_values() && rank == 0 && at % kCount == 777;
    if (is_rough && has_odd_values()) return rough(rank, at);
    if (is_none) return std::numeric_limits<double>::infinity();
    return value(ncclFloat32, rank, id_, at, false);
  }

  // Any sign, exponents of 64, all bits of a mantissa.
  double rough(int rank, std::size_t at) const {
    std::uint64_t bits = (at + 1) * 0x9E3779B97F4A7C15U + id_ * 0xC2B2AE3D27D4EB4FU;
    bits = (bits ^ bits >> 29 ^ static_cast<std::uint64_t>(rank)) * 0xBF58476D1CE4E5B9U;
    bits ^= bits >> 32;
    const double number = 1 + static_cast<double>(bits & 0x7FFFFF) / 0x800000;
    return std::ldexp((bits >> 24 & 1) != 0 ? -number : number,
                      static_cast<int>(bits >> 25 & 63) - 32);
  }

  ranks::Rank& self_;
  world::Arena arena_;
  std::byte* const send_ = arena_.take(all() * kBytes);
  std::byte* const gathered_ = arena_.take(all() * kBytes);
  std::byte* const summed_ = arena_.take(kBytes);
  std::byte* const scattered_ = arena_.take(kBytes);
  std::byte* const got_ = arena_.take(kBytes);
  std::uint32_t id_ = 0;
  bool captured_ = false;
};

void warm_up(Calls& calls) {
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (std::uint32_t call = 0; call < kAgree; ++call) {
    if (call % 32 == 0) calls.put(call * 5);  // none of the odd ones
    calls.make();
    if (call % 32 == 31) calls.results();
  }
  calls.results();
}

// All graphs in turn, each replay after the same calls without it.
void replay(ranks::Rank& self, Calls& calls, const std::vector<cudaGraphExec_t>& graphs) {
  bool may_be_raw = false;
  for (int time = 0; time < replays; ++time) {
    const auto id = static_cast<std::uint32_t>(2000 + time);
    calls.put(id);
    calls.make();
    const Results eager = calls.results();
    if (is_exact)
      expect(eager == calls.expected(), "without a graph, turn " + std::to_string(time));
    Results right = eager;
    bool is_first = may_be_raw;
    if (is_odd && calls.has_odd_values()) may_be_raw = true;
    for (const cudaGraphExec_t graph : graphs) {
      calls.put(id);
      cuda(cudaGraphLaunch(graph, self.stream), "cudaGraphLaunch");
      const Results replayed = calls.results();
      if (std::exchange(is_first, false)) right = replayed;
      expect(right.gathered == replayed.gathered, "AllGather, turn " + std::to_string(time));
      expect(right.summed == replayed.summed, "AllReduce, turn " + std::to_string(time));
      expect(right.scattered == replayed.scattered, "ReduceScatter, turn " + std::to_string(time));
      expect(right.got == replayed.got, "Recv, turn " + std::to_string(time));
    }
    if (failures > 0) return;
  }
}

void run(ranks::Rank& self) {
  Calls calls(self);
  warm_up(calls);
  std::vector<cudaGraphExec_t> graphs;
  for (const auto mode : {cudaStreamCaptureModeRelaxed, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeGlobal}) {
    graphs.push_back(calls.capture(mode));
  }
  if (failures == 0) replay(self, calls, graphs);
  // NCCL waits there for all graphs that have calls of the communicator's.
  std::thread ending;
  if (ends_after) {
    ending = std::thread([&] { ncclCommDestroy(self.comm); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (const cudaGraphExec_t graph : graphs) {
    if (graph != nullptr) cuda(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
  }
  if (ends_after) {
    ending.join();
    self.comm = nullptr;
    return;
  }
  // Memory that graphs had is taken back while other calls are made.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  calls.put(1);
  calls.make();
  calls.results();
}

}  // namespace
}  // namespace random_program

int main(int count, char** words) {
  using namespace random_program;
  replays = count > 1 ? std::atoi(words[1]) : 3;
  for (int at = 2; at < count; ++at) {
    const std::string word = words[at];
    is_exact = is_exact || word == "exact";
    is_rough = is_rough || word == "rough";
    is_odd = is_odd || is_rough || word == "odd";
    ends_after = ends_after || word == "after";
  }
  ranks::run(ranks::count(2), random_program::run);
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
