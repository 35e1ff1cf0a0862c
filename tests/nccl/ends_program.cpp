// How NCCL programs end while compressed calls are under way: each mode checks what the program is
// told. And one whose ranks are all one thread's. Prints "ok".
//
// ends_program destroy|abort|refuse|one-thread
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
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
  std::vector<float> mine = std::vector<float>(kCount), all = std::vector<float>(kRanks * kCount);
};

ncclResult_t gather(ranks::Rank& self, Arrays& arrays) {
  return ncclAllGather(arrays.mine.data(), arrays.all.data(), kCount, ncclFloat32, self.comm,
                       self.stream);
}

void agree(ranks::Rank& self, Arrays& arrays) {
  for (std::size_t at = 0; at < kCount; ++at) {
    arrays.mine[at] = static_cast<float>(at / 64 + 1000 * static_cast<std::size_t>(self.rank));
  }
  for (int call = 0; call < kCalls; ++call) {
    expect(gather(self, arrays) == ncclSuccess, "a call");
    if (call % 16 == 0) self.synchronize();
  }
  self.synchronize();
}

void make_noise(Arrays& arrays, int rank) {
  std::mt19937 random(static_cast<unsigned>(rank));
  for (float& each : arrays.mine) {
    const std::uint32_t word = random() & 0xBFFFFFFFU;
    std::memcpy(&each, &word, sizeof each);
  }
}

bool holds(const Arrays& arrays) {
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    Arrays theirs;
    make_noise(theirs, static_cast<int>(rank));
    if (std::memcmp(theirs.mine.data(), arrays.all.data() + rank * kCount, 4 * kCount) != 0) {
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
  make_noise(arrays, self.rank);
  for (int call = 0; call < 4; ++call) gather(self, arrays);
  ncclCommDestroy(self.comm);
  self.comm = nullptr;
  self.synchronize();
  expect(holds(arrays), "values after ncclCommDestroy");
}

// Rank 0 stays away from a call; the others wait for it, until a thread of each aborts.
void abort_waiting(ranks::Rank& self) {
  Arrays arrays;
  agree(self, arrays);
  make_noise(arrays, self.rank);
  if (self.rank != 0) expect(gather(self, arrays) == ncclSuccess, "the call that waits");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::thread([&] { ncclCommAbort(self.comm); }).join();
  self.comm = nullptr;
  self.synchronize();
}

// A rank leaves the job: what would be compressed fails at the others.
void refuse(ranks::Rank& self) {
  Arrays arrays;
  agree(self, arrays);
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
  expect(result == ncclRemoteError, "a call after a rank has aborted");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ncclResult_t state = ncclSuccess;
  expect(ncclCommGetAsyncError(self.comm, &state) == ncclSuccess && state != ncclSuccess,
         "ncclCommGetAsyncError");
  ncclCommAbort(self.comm);
  self.comm = nullptr;
}

// Every rank's part of a call is in one group, as NCCL wants it.
void run_in_one_thread() {
  ncclComm_t comms[kRanks] = {};
  ncclCommInitAll(comms, kRanks, nullptr);
  std::vector<Arrays> arrays(kRanks);
  cudaStream_t streams[kRanks] = {};
  for (int rank = 0; rank < kRanks; ++rank) {
    cudaStreamCreate(&streams[rank]);
    for (std::size_t at = 0; at < kCount; ++at) {
      arrays[rank].mine[at] = static_cast<float>(at / 64 + 1000 * static_cast<std::size_t>(rank));
    }
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
  for (const Arrays& each : arrays) {
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      expect(std::equal(arrays[rank].mine.begin(), arrays[rank].mine.end(),
                        each.all.begin() + static_cast<std::ptrdiff_t>(rank * kCount)),
             "values of one thread's ranks");
    }
  }
  for (ncclComm_t each : comms) ncclCommDestroy(each);
  for (cudaStream_t each : streams) cudaStreamDestroy(each);
}

}  // namespace

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  const auto work = mode == "destroy" ? destroy : mode == "abort" ? abort_waiting : refuse;
  if (mode == "one-thread") {
    run_in_one_thread();
  } else {
    ranks::run(kRanks, work);
  }
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
