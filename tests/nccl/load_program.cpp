// NCCL programs that load streams: each checks all values in the end, and prints "ok".
//
// load_program ahead    on two communicators at once a host runs a thousand calls ahead of streams
//                       that are held; since ranks agreed their values no longer get smaller
// load_program streams  two communicators' calls on 64 streams that are busy with other things
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "random_values.h"
#include "ranks.h"

namespace random_program {
namespace {

constexpr std::size_t kCount = 4096;
constexpr std::size_t kBytes = kCount * sizeof(float);
constexpr int kAgree = 340;  // calls of a communicator
constexpr int kAhead = 500;
constexpr int kStreams = 64;

std::atomic<int> failures{0};

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  ++failures;
}

Bytes values(int rank, std::uint32_t call, bool noise) {
  Bytes made(kBytes);
  for (std::size_t at = 0; at < kCount; ++at) {
    store(made, at, ncclFloat32, value(ncclFloat32, rank, call, at, noise));
  }
  return made;
}

// Whole arrays gathered, or summed if the call's number is odd.
void submit(const ranks::Rank& self, ncclComm_t comm, cudaStream_t stream, std::uint32_t call,
            const std::byte* send, std::byte* receive) {
  const ncclResult_t result =
      call % 2 == 0 ? ncclAllGather(send, receive, kCount, ncclFloat32, comm, stream)
                    : ncclAllReduce(send, receive, kCount, ncclFloat32, ncclSum, comm, stream);
  expect(result == ncclSuccess,
         "rank " + std::to_string(self.rank) + ", call " + std::to_string(call));
}

// `given`: the call that the values are of.
void check(const ranks::Rank& self, std::uint32_t call, std::uint32_t given, bool noise,
           const std::byte* receive) {
  Bytes expected;
  if (call % 2 == 0) {
    for (int rank = 0; rank < self.ranks; ++rank) {
      const Bytes theirs = values(rank, given, noise);
      expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
  } else {
    expected.resize(kBytes);
    for (std::size_t at = 0; at < kCount; ++at) {
      double sum = 0;
      for (int rank = 0; rank < self.ranks; ++rank) {
        sum += value(ncclFloat32, rank, given, at, noise);
      }
      store(expected, at, ncclFloat32, sum);
    }
  }
  expect(expected == world::read(receive, expected.size()),
         "values of rank " + std::to_string(self.rank) + ", call " + std::to_string(call));
}

struct Two {
  explicit Two(const ranks::Rank& self) {
    for (ncclComm_t& each : comms) ncclCommSplit(self.comm, 0, self.rank, &each, nullptr);
    // Long enough for ranks to find each other.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  ~Two() {
    for (ncclComm_t each : comms) ncclCommDestroy(each);
  }
  ncclComm_t comms[2] = {};
};

// Streams wait for `open`, at most as long as the watchman lets them: a driver whose queues are
// full keeps the host until streams go on.
class Gate {
 public:
  Gate() : watchman_([this] { watch(); }) {}
  ~Gate() {
    open();
    watchman_.join();
  }
  void hold(cudaStream_t stream) {
    cudaLaunchHostFunc(
        stream,
        [](void* open) {
          while (!*static_cast<std::atomic<bool>*>(open)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        },
        &open_);
  }
  bool is_open() const { return open_; }
  void open() { open_ = true; }

 private:
  void watch() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!open_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    open_ = true;
  }

  std::atomic<bool> open_{false};
  std::thread watchman_;
};

void run_ahead(ranks::Rank& self) {
  const Two two(self);
  cudaStream_t streams[2] = {};
  for (cudaStream_t& each : streams) cudaStreamCreate(&each);
  world::Arena arena;
  std::byte* const send = arena.take(values(self.rank, 0, false));
  const std::size_t most = static_cast<std::size_t>(self.ranks) * kBytes;
  std::byte* received[2][kAhead] = {};
  for (auto& of_comm : received) {
    for (std::byte*& each : of_comm) each = arena.take(most);
  }
  for (std::uint32_t call = 0; call < kAgree; ++call) {
    for (const int comm : {0, 1}) {
      submit(self, two.comms[comm], streams[comm], call, send, received[comm][call]);
    }
    if (call % 8 == 0) {
      for (cudaStream_t each : streams) cudaStreamSynchronize(each);
    }
  }
  for (cudaStream_t each : streams) cudaStreamSynchronize(each);
  for (const int comm : {0, 1}) {
    check(self, kAgree - 1, 0, false, received[comm][kAgree - 1]);
    check(self, kAgree - 2, 0, false, received[comm][kAgree - 2]);
  }

  const Bytes noise = values(self.rank, 1, true);
  world::write(send, noise.data(), kBytes);
  int ahead = 0;
  {
    Gate gate;
    for (cudaStream_t each : streams) gate.hold(each);
    for (std::uint32_t call = 0; call < kAhead; ++call) {
      for (const int comm : {0, 1}) {
        submit(self, two.comms[comm], streams[comm], call, send, received[comm][call]);
        ahead += gate.is_open() ? 0 : 1;
      }
    }
  }
  for (cudaStream_t each : streams) cudaStreamSynchronize(each);
  for (std::uint32_t call = 0; call < kAhead; ++call) {
    for (const int comm : {0, 1}) check(self, call, 1, true, received[comm][call]);
  }
  for (cudaStream_t each : streams) cudaStreamDestroy(each);
  std::fprintf(stderr, "%d calls ahead\n", ahead);
}

void run_streams(ranks::Rank& self) {
  const Two two(self);
  cudaStream_t streams[kStreams] = {};
  for (cudaStream_t& each : streams) cudaStreamCreate(&each);
  world::Arena arena;
  for (std::uint32_t round = 0; round < 2 * kAgree / kStreams + 4; ++round) {
    const bool noise = round % 4 == 3 && round > kAgree / kStreams;
    std::byte* received[kStreams] = {};
    for (std::uint32_t at = 0; at < kStreams; ++at) {
      const std::uint32_t call = round * kStreams + at;
      const std::byte* const send = arena.take(values(self.rank, call, noise));
      received[at] = arena.take(static_cast<std::size_t>(self.ranks) * kBytes);
      world::keep_busy(streams[at]);
      submit(self, two.comms[call / 2 % 2], streams[at], call, send, received[at]);
      world::keep_busy(streams[(at * 7 + 1) % kStreams]);
    }
    for (cudaStream_t each : streams) cudaStreamSynchronize(each);
    for (std::uint32_t at = 0; at < kStreams; ++at) {
      const std::uint32_t call = round * kStreams + at;
      check(self, call, call, noise, received[at]);
    }
    arena.give_back_all();
  }
  for (cudaStream_t each : streams) cudaStreamDestroy(each);
}

}  // namespace
}  // namespace random_program

int main(int count, char** words) {
  using namespace random_program;
  const bool many = count > 1 && std::string(words[1]) == "streams";
  ranks::run(ranks::count(2), many ? run_streams : run_ahead);
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
