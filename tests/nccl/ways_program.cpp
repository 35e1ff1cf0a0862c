// Communicators that come and go at random: blocking ones and such that do not, their halves, calls
// on both under way, and an end at a random moment: by ncclCommAbort from another thread, by
// ncclCommFinalize, ncclCommDestroy or ncclCommRevoke. In every other round blocks stop fitting
// before the end. Ranks are threads, or processes as in ranks.h. A round that hangs ends the
// process by a signal. Prints "ok".
//
// ways_program any|abort ROUNDS SEED
// ways_program killed 1 SEED        one of the processes is killed in the middle of its calls
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 1 << 12, kBytes = sizeof(float) * kCount;
constexpr int kRanks = 3;
constexpr int kCalls = 150;                                   // ranks have agreed by then
constexpr unsigned kTimeForARound = world::kOnGpus ? 15 : 5;  // seconds, on a busy machine

// Microseconds; on GPUs, which three processes share, a call's kernels start late.
constexpr unsigned kLatestAbort = world::kOnGpus ? 30'000 : 3'000;

std::atomic<int> failures{0};

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

void pause_up_to(std::mt19937& random, unsigned microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % microseconds));
}

float value(int rank, std::size_t at, bool noise) {
  if (!noise) return static_cast<float>(at / 64 + 1000 * static_cast<std::size_t>(rank));
  const auto word = static_cast<std::uint32_t>((at + 1) * 0x9E3779B9U * (2U * rank + 1U));
  const std::uint32_t finite = word & 0xBFFFFFFFU;
  float made = 0;
  std::memcpy(&made, &finite, sizeof made);
  return made;
}

// A communicator of this rank's, and gathers on it.
class Life {
 public:
  Life(ncclComm_t comm, cudaStream_t stream) : comm_(comm), stream_(stream) {
    ncclCommCount(comm, &ranks_);
    ncclCommUserRank(comm, &rank_);
    all_ = arena_.take(static_cast<std::size_t>(ranks_) * kBytes);
    fill(false);
  }

  void fill(bool noise) {
    std::vector<float> values(kCount);
    for (std::size_t at = 0; at < kCount; ++at) values[at] = value(rank_, at, noise);
    world::write(mine_, values.data(), kBytes);
  }
  ncclResult_t gather() { return ncclAllGather(mine_, all_, kCount, ncclFloat32, comm_, stream_); }
  ncclResult_t final_result(ncclResult_t result) const {
    return result == ncclInProgress ? ranks::state_of(comm_) : result;
  }
  bool holds(bool noise) const {
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto found = world::read(all_ + static_cast<std::size_t>(rank) * kBytes, kBytes);
      for (std::size_t at = 0; at < kCount; at += 61) {
        const float expected = value(rank, at, noise);
        const std::byte* const there = found.data() + at * sizeof expected;
        if (std::memcmp(&expected, there, sizeof expected) != 0) return false;
      }
    }
    return true;
  }

  void agree(std::mt19937& random) {
    std::this_thread::sleep_for(std::chrono::milliseconds(15));  // ranks find each other
    for (int call = 0; call < kCalls; ++call) {
      expect(final_result(gather()) == ncclSuccess, "a call");
      if (random() % 64 == 0) pause_up_to(random, 500);
      if (call % 16 == 0) cudaStreamSynchronize(stream_);
    }
    cudaStreamSynchronize(stream_);
    expect(holds(false), "values");
  }

  // As many as each rank likes; the others wait for what a rank leaves out.
  void flood(std::mt19937& random) {
    const unsigned calls = random() % 30;
    for (unsigned call = 0; call < calls; ++call) {
      const ncclResult_t result = gather();
      // Sometimes the end comes while it is in progress.
      if (call + 1 == calls && random() % 2 == 0) return;
      if (final_result(result) != ncclSuccess) return;  // another rank has aborted
    }
  }

  ncclComm_t comm() const { return comm_; }

 private:
  ncclComm_t comm_;
  cudaStream_t stream_;
  int rank_ = 0, ranks_ = 0;
  world::Arena arena_;
  std::byte* const mine_ = arena_.take(kBytes);
  std::byte* all_ = nullptr;
};

ncclComm_t made(int rank, const ncclUniqueId& id, bool blocking) {
  // After these NCCL has more, which stays as it would be.
  constexpr std::size_t kSize = offsetof(ncclConfig_t, blocking) + sizeof(int);
  ncclConfig_t config{kSize, 0xcafebeef, 22809, blocking ? 1 : 0};
  ncclComm_t comm = nullptr;
  const ncclResult_t result = ncclCommInitRankConfig(&comm, kRanks, id, rank, &config);
  expect(result == (blocking ? ncclSuccess : ncclInProgress), "ncclCommInitRankConfig");
  expect(ranks::state_of(comm) == ncclSuccess, "a new communicator");
  return comm;
}

// The main thread waits for the stream meanwhile.
void abort_from_a_thread(Life& life, cudaStream_t stream, std::mt19937& random) {
  std::thread aborter([&] {
    pause_up_to(random, kLatestAbort);
    ncclCommAbort(life.comm());
  });
  cudaStreamSynchronize(stream);
  aborter.join();
  cudaStreamSynchronize(stream);
}

void end_in_order(Life& life, cudaStream_t stream, unsigned way, bool noise) {
  for (int call = 0; call < 5; ++call) {
    expect(life.final_result(life.gather()) == ncclSuccess, "a call before the end");
  }
  if (way == 0) {
    expect(life.final_result(ncclCommFinalize(life.comm())) == ncclSuccess, "ncclCommFinalize");
  } else if (way == 1) {
    cudaStreamSynchronize(stream);
    expect(life.final_result(ncclCommRevoke(life.comm(), 0)) == ncclSuccess, "ncclCommRevoke");
    expect(life.gather() != ncclSuccess, "a call behind ncclCommRevoke");
  }
  expect(ncclCommDestroy(life.comm()) == ncclSuccess, "ncclCommDestroy");
  cudaStreamSynchronize(stream);
  expect(life.holds(noise), "values at the end");
}

struct Round {
  bool blocking, noise, halves, aborts;
  unsigned way;
};

Round any_round(std::mt19937& common, int number, bool aborts) {
  const bool chosen = common() % 2 == 0;
  return {common() % 2 == 0, number % 2 == 1, common() % 4 == 0, aborts || chosen,
          static_cast<unsigned>(common() % 3)};
}

void live_once(int rank, const ncclUniqueId& id, const Round& round, unsigned seed) {
  std::mt19937 random(seed + static_cast<unsigned>(rank));
  cudaStream_t stream{};
  cudaStreamCreate(&stream);
  Life life(made(rank, id, round.blocking), stream);
  life.agree(random);
  if (round.halves) {
    ncclComm_t half = nullptr;
    // The parent of one that does not block is in progress, whatever the call has returned.
    const ncclResult_t split = ncclCommSplit(life.comm(), rank % 2, rank, &half, nullptr);
    expect(split == ncclSuccess || split == ncclInProgress, "ncclCommSplit");
    expect(ranks::state_of(life.comm()) == ncclSuccess && half != nullptr, "its parent");
    expect(ranks::state_of(half) == ncclSuccess, "a half");
    Life part(half, stream);
    part.agree(random);
    expect(ncclCommDestroy(half) == ncclSuccess, "the end of a half");
  }
  life.fill(round.noise);
  if (round.aborts) {
    life.flood(random);
    abort_from_a_thread(life, stream, random);
  } else {
    end_in_order(life, stream, round.way, round.noise);
  }
  cudaStreamDestroy(stream);
}

void live(int rounds, unsigned seed, bool aborts) {
  std::mt19937 common(seed);
  for (int number = 0; number < rounds && failures == 0; ++number) {
    const Round round = any_round(common, number, aborts);
    const unsigned own_seed = seed * 1000 + static_cast<unsigned>(number * kRanks);
    if (ranks::file() != nullptr) {
      const int rank = ranks::own();
      const std::string file = std::string(ranks::file()) + std::to_string(number);
      live_once(rank, ranks::new_id_by_file(rank, file), round, own_seed);
      continue;
    }
    const ncclUniqueId id = ranks::new_id();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] { live_once(rank, id, round, own_seed); });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// Rank 2 does not come back from its calls; the others, which wait for it, abort.
void be_killed(ranks::Rank& self, unsigned seed) {
  std::mt19937 random(seed * 1000 + static_cast<unsigned>(self.rank));
  Life life(self.comm, self.stream);
  life.agree(random);
  life.fill(seed % 2 == 1);
  std::thread killer;
  if (self.rank == 2) {
    killer = std::thread([&] {
      pause_up_to(random, 4000);
      kill(getpid(), SIGKILL);
    });
  }
  for (int call = 0; call < 60; ++call) {
    if (life.final_result(life.gather()) != ncclSuccess) break;
  }
  if (self.rank == 2) pause();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  abort_from_a_thread(life, self.stream, random);
  self.comm = nullptr;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  alarm(60 + kTimeForARound * static_cast<unsigned>(std::atoi(words[2])));
  const std::string mode = words[1];
  const auto seed = static_cast<unsigned>(std::atoi(words[3]));
  if (mode == "killed") {
    ranks::run(kRanks, [&](ranks::Rank& self) { be_killed(self, seed); });
  } else {
    live(std::atoi(words[2]), seed, mode == "abort");
  }
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
