// Millions of calls over four communicators, one of which does not block, on two streams, with
// hosts that come late at random; every result is checked, so that calls that change places are
// found out. Prints what memory the process has after a tenth, a half and all of the calls, and
// fails if it grows by more than a little from the tenth on. Prints "ok".
//
// long_program CALLS SEED     calls of each of two ranks
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "ranks.h"

namespace {

constexpr int kRanks = 2;
constexpr std::size_t kMost = 1024;  // floats of a call
constexpr std::size_t kAhead = 32;   // calls before the results are looked at

std::atomic<int> failures{0};

void expect(bool holds, const char* what, std::uint64_t call) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s, call %llu\n", what, static_cast<unsigned long long>(call));
  ++failures;
}

struct Memory {
  std::size_t resident = 0, allocated = 0;  // bytes
};

Memory memory_now() {
  std::size_t whole = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> whole >> pages;
  return {pages * 4096, mallinfo2().uordblks};
}

struct Place {
  std::vector<float> mine = std::vector<float>(kMost), theirs = std::vector<float>(2 * kMost);
  std::size_t count = 0;
  int kind = 0;
  std::uint64_t call = 0;
};

float value(std::uint64_t call, int rank, std::size_t at) {
  return static_cast<float>(call % 4096) + static_cast<float>(1000 * rank) +
         static_cast<float>(at / 64);
}

class Run {
 public:
  Run(ranks::Rank& self, std::uint64_t calls, unsigned seed)
      : self_(self), calls_(calls), common_(seed), own_(seed + 1 + self.rank) {
    ncclConfig_t later{sizeof(ncclConfig_t), 0xcafebeef, 22809, 0};
    comms_[0] = self.comm;
    ncclCommSplit(self.comm, 0, self.rank, &comms_[1], nullptr);
    ncclCommSplit(self.comm, 0, -self.rank, &comms_[2], nullptr);
    ncclCommSplit(self.comm, 0, self.rank, &comms_[3], &later);
    for (const ncclComm_t each : comms_) ranks::state_of(each);
    for (cudaStream_t& each : streams_) cudaStreamCreate(&each);
  }
  ~Run() {
    for (int at = 1; at < 4; ++at) ncclCommDestroy(comms_[at]);
    for (cudaStream_t each : streams_) cudaStreamDestroy(each);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void go() {
    for (std::uint64_t call = 0; call < calls_ && failures == 0; ++call) {
      one(places_[call % kAhead], call);
      if (call % kAhead == kAhead - 1) check_all();
      if (own_() % 4096 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own_() % 3000));
      if (call + 1 == calls_ / 10) note(0);
      if (call + 1 == calls_ / 2) note(1);
    }
    check_all();
    note(2);
  }

 private:
  void one(Place& place, std::uint64_t call) {
    const unsigned dice = common_();
    place.count = std::size_t{256} << dice % 3;
    place.kind = static_cast<int>(dice / 4 % 3);
    place.call = call;
    const ncclComm_t comm = comms_[dice / 16 % 4];
    const cudaStream_t stream = streams_[dice / 64 % 2];
    for (std::size_t at = 0; at < place.count; ++at) {
      place.mine[at] = value(call, self_.rank, at);
    }
    ncclResult_t result = ncclSuccess;
    if (place.kind == 0) {
      result = ncclAllGather(place.mine.data(), place.theirs.data(), place.count, ncclFloat32, comm,
                             stream);
    } else if (place.kind == 1) {
      result = ncclAllReduce(place.mine.data(), place.theirs.data(), place.count, ncclFloat32,
                             ncclSum, comm, stream);
    } else {
      int rank = 0;
      ncclCommUserRank(comm, &rank);
      ncclGroupStart();
      ncclSend(place.mine.data(), place.count, ncclFloat32, 1 - rank, comm, stream);
      ncclRecv(place.theirs.data(), place.count, ncclFloat32, 1 - rank, comm, stream);
      result = ncclGroupEnd();
    }
    if (result == ncclInProgress) result = ranks::state_of(comm);
    expect(result == ncclSuccess, "a call's result", call);
    backwards_ = comm == comms_[2];
    order_[call % kAhead] = backwards_;
  }

  void check_all() {
    for (const cudaStream_t each : streams_) cudaStreamSynchronize(each);
    for (std::size_t index = 0; index < kAhead; ++index) {
      Place& place = places_[index];
      if (place.count != 0) check(place, order_[index]);
      place.count = 0;
    }
  }

  // The third communicator has the ranks the other way round.
  void check(const Place& place, bool backwards) const {
    bool holds = true;
    for (std::size_t at = 0; at < place.count; at += 51) {
      const auto of = [&](int rank) { return value(place.call, rank, at); };
      const float* const found = place.theirs.data();
      const int first = backwards ? 1 : 0;
      if (place.kind == 0) {
        holds = holds && found[at] == of(first) && found[place.count + at] == of(1 - first);
      } else {
        holds = holds && found[at] == (place.kind == 1 ? of(0) + of(1) : of(1 - self_.rank));
      }
    }
    expect(holds, "values", place.call);
  }

  void note(int which) {
    if (self_.rank != 0) return;
    check_all();
    at_[which] = memory_now();
    std::fprintf(stderr, "%s of the calls: %zu KiB resident, %zu KiB allocated\n",
                 which == 0   ? "a tenth"
                 : which == 1 ? "a half"
                              : "all",
                 at_[which].resident >> 10, at_[which].allocated >> 10);
    // Ranks are not at the same call: some buffers may be in use on one side alone.
    constexpr std::size_t kSlack = 4 << 20;
    if (which == 0) return;
    expect(at_[which].resident < at_[0].resident + kSlack, "resident memory grows", calls_);
    expect(at_[which].allocated < at_[0].allocated + kSlack, "allocated memory grows", calls_);
  }

  ranks::Rank& self_;
  std::uint64_t calls_;
  std::mt19937 common_, own_;
  ncclComm_t comms_[4] = {};
  cudaStream_t streams_[2] = {};
  std::vector<Place> places_ = std::vector<Place>(kAhead);
  bool order_[kAhead] = {};
  bool backwards_ = false;
  Memory at_[3];
};

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const auto calls = std::strtoull(words[1], nullptr, 10);
  const auto seed = static_cast<unsigned>(std::atoi(words[2]));
  ranks::run(kRanks, [&](ranks::Rank& self) { Run(self, calls, seed).go(); });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
