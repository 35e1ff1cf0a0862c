// Measures what an AllReduce of fp32 values takes on the stream, made by the host and replayed from
// a CUDA graph, raw and under the library, by turns. Prints a line of JSON: milliseconds a call,
// medians of the turns; whether a replay has the bits of the call without a graph; the largest
// error, of the largest sum.
//
// nccl_graph_time MIB TURNS
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "ranks.h"

namespace {

constexpr int kAgree = 340;
constexpr int kCalls = 5;  // in one turn

void check(int error, const char* what) {
  if (error == 0) return;
  std::fprintf(stderr, "failed: %s: %d\n", what, error);
  std::_Exit(1);
}

using AllReduce = decltype(&ncclAllReduce);
using Way = std::function<void()>;

struct Arrays {
  explicit Arrays(std::size_t count) : count(count) {}

  const std::size_t count;
  world::Arena arena;
  std::byte* const send = arena.take(count * sizeof(float));
  std::byte* const sum = arena.take(count * sizeof(float));
  std::byte* const one = arena.take(sizeof(float));  // of calls by which ranks meet
};

float value(int rank, std::size_t at) {
  return std::sin(static_cast<float>(at % 1'000'003) * 0.01F + static_cast<float>(rank));
}

cudaGraphExec_t captured(cudaStream_t stream, const Way& call) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  call();
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  return made;
}

float time_of(const ranks::Rank& self, const Way& meet, const Way& call) {
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  meet();
  check(cudaEventRecord(begin, self.stream), "cudaEventRecord");
  for (int time = 0; time < kCalls; ++time) call();
  check(cudaEventRecord(end, self.stream), "cudaEventRecord");
  self.synchronize();
  float taken = 0;
  check(cudaEventElapsedTime(&taken, begin, end), "cudaEventElapsedTime");
  check(cudaEventDestroy(begin), "cudaEventDestroy");
  check(cudaEventDestroy(end), "cudaEventDestroy");
  return taken / kCalls;
}

float median(std::vector<float> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

world::Bytes result_of(const ranks::Rank& self, const Arrays& arrays, const Way& call) {
  const world::Bytes nothing(arrays.count * sizeof(float), std::byte{0xA5});
  world::write(arrays.sum, nothing.data(), nothing.size());
  call();
  self.synchronize();
  return world::read(arrays.sum, nothing.size());
}

double error_of(const world::Bytes& sum, int ranks) {
  const auto* const found = reinterpret_cast<const float*>(sum.data());
  double worst = 0, largest = 0;
  for (std::size_t at = 0; at < sum.size() / sizeof(float); ++at) {
    double exact = 0;
    for (int rank = 0; rank < ranks; ++rank) exact += value(rank, at);
    const double off = std::abs(found[at] - exact);
    worst = std::max(worst, std::isnan(off) ? HUGE_VAL : off);
    largest = std::max(largest, std::abs(exact));
  }
  return worst / largest;
}

void run(ranks::Rank& self, std::size_t count, int turns) {
  const Arrays arrays(count);
  std::vector<float> mine(count);
  for (std::size_t at = 0; at < count; ++at) mine[at] = value(self.rank, at);
  world::write(arrays.send, mine.data(), count * sizeof(float));
  const auto raw = reinterpret_cast<AllReduce>(dlsym(RTLD_DEFAULT, "pncclAllReduce"));
  if (raw == nullptr) check(1, "pncclAllReduce");
  const auto sum = [&](AllReduce by) {
    return [&, by] {
      check(by(arrays.send, arrays.sum, count, ncclFloat32, ncclSum, self.comm, self.stream),
            "AllReduce");
    };
  };
  const Way natively = sum(raw), coded = sum(ncclAllReduce);
  const Way meet = [&] {
    check(raw(arrays.one, arrays.one, 1, ncclFloat32, ncclSum, self.comm, self.stream), "meet");
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int call = 0; call < kAgree; ++call) {
    coded();
    if (call % 16 == 15) self.synchronize();
  }
  const cudaGraphExec_t native_graph = captured(self.stream, natively);
  const cudaGraphExec_t graph = captured(self.stream, coded);
  const auto replay = [&](cudaGraphExec_t of) {
    return [&, of] { check(cudaGraphLaunch(of, self.stream), "cudaGraphLaunch"); };
  };
  const std::vector<Way> ways = {natively, replay(native_graph), coded, replay(graph)};
  const world::Bytes eager = result_of(self, arrays, coded);
  const bool equal = eager == result_of(self, arrays, ways[3]);
  std::vector<std::vector<float>> times(ways.size());
  for (int turn = 0; turn < turns + 1; ++turn) {
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const float taken = time_of(self, meet, ways[way]);
      if (turn > 0) times[way].push_back(taken);
    }
  }
  std::printf(
      "{\"rank\": %d, \"raw\": %.3f, \"raw_replayed\": %.3f, \"compressed\": %.3f, "
      "\"compressed_replayed\": %.3f, \"equal\": %s, \"error\": %.3g}\n",
      self.rank, median(times[0]), median(times[1]), median(times[2]), median(times[3]),
      equal ? "true" : "false", error_of(eager, self.ranks));
  for (const cudaGraphExec_t each : {graph, native_graph}) {
    check(cudaGraphExecDestroy(each), "cudaGraphExecDestroy");
  }
}

}  // namespace

int main(int count, char** words) {
  const std::size_t mib = count > 1 ? std::strtoul(words[1], nullptr, 10) : 64;
  const int turns = count > 2 ? std::atoi(words[2]) : 9;
  ranks::run(ranks::count(2),
             [&](ranks::Rank& self) { run(self, (mib << 20) / sizeof(float), turns); });
}
