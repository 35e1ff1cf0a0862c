// How NCCL programs end while compressed calls are under way: each mode checks what the program is
// told. And one whose ranks are all one thread's. Prints "ok".
//
// ends_program destroy|abort|abort-spilling|refuse|one-thread   (GPUs: those that abort, refuse)
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 1 << 16;
constexpr int kRanks = 3;
constexpr int kCalls = 330;  // ranks have agreed by then

std::atomic<int> failures{0};

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

struct Arrays {
  world::Arena arena;
  std::byte* const mine = arena.take(4 * kCount);
  std::byte* const all = arena.take(4 * kRanks * kCount);

  void put(const std::vector<float>& values) const {
    world::write(mine, values.data(), 4 * kCount);
  }
};

ncclResult_t gather(ranks::Rank& self, const Arrays& arrays) {
  return ncclAllGather(arrays.mine, arrays.all, kCount, ncclFloat32, self.comm, self.stream);
}

std::vector<float> smooth(int rank) {
  std::vector<float> values(kCount);
  for (std::size_t at = 0; at < kCount; ++at) {
    values[at] = static_cast<float>(at / 64 + 1000 * static_cast<std::size_t>(rank));
  }
  return values;
}

std::vector<float> noise(int rank) {
  std::mt19937 random(static_cast<unsigned>(rank));
  std::vector<float> values(kCount);
  for (float& each : values) {
    const std::uint32_t word = random() & 0xBFFFFFFFU;
    std::memcpy(&each, &word, sizeof each);
  }
  return values;
}

void agree(ranks::Rank& self, const Arrays& arrays) {
  // Long enough for ranks to find each other.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  arrays.put(smooth(self.rank));
  for (int call = 0; call < kCalls; ++call) {
    expect(gather(self, arrays) == ncclSuccess, "a call");
    if (call % 16 == 0) self.synchronize();
  }
  self.synchronize();
}

// Checks that `arrays` has the values of all ranks.
bool holds(const Arrays& arrays, std::vector<float> (*values)(int)) {
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto found = world::read(arrays.all + rank * 4 * kCount, 4 * kCount);
    if (std::memcmp(values(static_cast<int>(rank)).data(), found.data(), 4 * kCount) != 0) {
      return false;
    }
  }
  return true;
}

// The communicator ends with spilled blocks under way: they arrive, and only then all is given
// back.
void destroy(ranks::Rank& self) {
  Arrays arrays;
  agree(self, arrays);
  arrays.put(noise(self.rank));
  for (int call = 0; call < 4; ++call) gather(self, arrays);
  ncclCommDestroy(self.comm);
  self.comm = nullptr;
  self.synchronize();
  expect(holds(arrays, noise), "values after ncclCommDestroy");
}

// Rank 0 stays away from a call; the others wait for it, until a thread of each aborts.
void abort_waiting(ranks::Rank& self) {
  Arrays arrays;
  agree(self, arrays);
  arrays.put(noise(self.rank));
  if (self.rank != 0) expect(gather(self, arrays) == ncclSuccess, "the call that waits");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::thread([&] { ncclCommAbort(self.comm); }).join();
  self.comm = nullptr;
  self.synchronize();
}

// All ranks abort with calls under way, some of whose blocks go by way of the hosts.
void abort_spilling(ranks::Rank& self) {
  Arrays arrays;
  agree(self, arrays);
  expect(holds(arrays, smooth), "values before");
  arrays.put(noise(self.rank));
  for (int call = 0; call < 60; ++call) {
    const ncclResult_t result = gather(self, arrays);
    // Another rank may have aborted by now.
    expect(world::kOnGpus || result == ncclSuccess || result == ncclRemoteError,
           "a call before the end");
  }
  std::thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ncclCommAbort(self.comm);
  }).join();
  self.comm = nullptr;
  self.synchronize();
}

// A rank leaves the job: what would be compressed fails at the others.
void refuse(ranks::Rank& self) {
  Arrays arrays;
  agree(self, arrays);
  // A rank that aborts takes with it what NCCL has not yet sent of calls that have ended here.
  if (ranks::file() != nullptr) ranks::meet_by_files(self.rank, self.ranks, ranks::file());
  if (self.rank == 0) {
    ncclCommAbort(self.comm);
    self.comm = nullptr;
    return;
  }
  ncclResult_t result = ncclSuccess;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (result == ncclSuccess && std::chrono::steady_clock::now() < end) {
    result = gather(self, arrays);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // NCCL on GPUs may find it out first, and say it in its own way.
  expect(world::kOnGpus ? result != ncclSuccess : result == ncclRemoteError,
         "a call after a rank has aborted");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ncclResult_t state = ncclSuccess;
  expect(ncclCommGetAsyncError(self.comm, &state) == ncclSuccess && state != ncclSuccess,
         "ncclCommGetAsyncError");
  ncclCommAbort(self.comm);
  self.comm = nullptr;
}

#ifndef NCCL_ON_GPUS  // each rank would have one

// Every rank's part of a call is in one group, as NCCL wants it.
void run_in_one_thread() {
  ncclComm_t comms[kRanks] = {};
  ncclCommInitAll(comms, kRanks, nullptr);
  std::vector<Arrays> arrays(kRanks);
  cudaStream_t streams[kRanks] = {};
  for (int rank = 0; rank < kRanks; ++rank) {
    cudaStreamCreate(&streams[rank]);
    arrays[rank].put(smooth(rank));
  }
  for (int call = 0; call < kCalls; ++call) {
    ncclGroupStart();
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks::Rank self{rank, kRanks, comms[rank], streams[rank]};
      expect(gather(self, arrays[rank]) == ncclSuccess, "a call");
    }
    expect(ncclGroupEnd() == ncclSuccess, "a group");
    if (call % 16 == 0) {
      for (cudaStream_t each : streams) cudaStreamSynchronize(each);
    }
  }
  for (cudaStream_t each : streams) cudaStreamSynchronize(each);
  for (const Arrays& each : arrays) expect(holds(each, smooth), "values of one thread's ranks");
  for (ncclComm_t each : comms) ncclCommDestroy(each);
  for (cudaStream_t each : streams) cudaStreamDestroy(each);
}

#endif

}  // namespace

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
#ifndef NCCL_ON_GPUS
  if (mode == "one-thread") {
    run_in_one_thread();
    std::puts(failures == 0 ? "ok" : "failed");
    return failures == 0 ? 0 : 1;
  }
#endif
  const std::map<std::string, void (*)(ranks::Rank&)> modes{{"destroy", destroy},
                                                            {"abort", abort_waiting},
                                                            {"abort-spilling", abort_spilling},
                                                            {"refuse", refuse}};
  ranks::run(kRanks, modes.at(mode));
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
