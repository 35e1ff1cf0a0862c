// An NCCL program that makes and ends communicators in groups. It knows nothing of Thinwire and
// checks every result. Prints "ok".
//
// making_program parts          groups with a split, some of which NCCL refuses on one rank
// making_program finalize MODE  a communicator's last calls and its end in one group. MODE: "large"
//                               calls, which are compressed; "small" ones, which are not; "both";
//                               "none"; "more": and a call after the end; "simulated"
// making_program many COUNT     so many communicators, one after the other, of two ranks: memory,
//                               descriptors and threads do not grow with them
// making_program together COUNT so many, whose two ranks one thread makes, calls and ends in groups
#include <dirent.h>
#include <malloc.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "ranks.h"

namespace {

std::atomic<int> failures{0};

void expect(bool holds, const char* what, int rank, int at) {
  if (holds) return;
  std::fprintf(stderr, "rank %d, %d: %s\n", rank, at, what);
  ++failures;
}

constexpr std::size_t kLarge = 9000, kSmall = 16;

// Sums over one communicator, whose results are looked at in the end.
class Sums {
 public:
  Sums(const ranks::Rank& self, ncclComm_t comm) : self_(self), comm_(comm) {
    ncclCommCount(comm, &ranks_);
    ncclCommUserRank(comm, &rank_);
  }
  ncclResult_t add(std::size_t count, int value) {
    given_.emplace_back(count, static_cast<float>(value + rank_));
    kept_.emplace_back(count);
    wanted_.push_back(static_cast<float>(ranks_ * value + ranks_ * (ranks_ - 1) / 2));
    return ncclAllReduce(given_.back().data(), kept_.back().data(), count, ncclFloat32, ncclSum,
                         comm_, self_.stream);
  }
  void check(int at) {
    self_.synchronize();
    for (std::size_t each = 0; each < kept_.size(); ++each) {
      for (const float value : kept_[each]) {
        if (value == wanted_[each]) continue;
        expect(false, "a sum", self_.rank, at);
        break;
      }
    }
    given_.clear();
    kept_.clear();
    wanted_.clear();
  }
  void agree(int calls) {
    for (int call = 0; call < calls; ++call) {
      const ncclResult_t made = ranks::final_result(add(kLarge, call % 50));
      expect(made == ncclSuccess, "a call", self_.rank, call);
      check(call);
    }
  }

 private:
  const ranks::Rank& self_;
  ncclComm_t comm_;
  int ranks_ = 0, rank_ = 0;
  std::vector<std::vector<float>> given_, kept_;
  std::vector<float> wanted_;
};

ncclComm_t split(const ranks::Rank& self, int color) {
  ncclComm_t part = nullptr;
  ncclCommSplit(self.comm, color, self.rank, &part, nullptr);
  ranks::state_of(self.comm);
  if (part == nullptr) return part;
  ranks::state_of(part);
  ranks::comms_of_thread().push_back(part);
  return part;
}

// A part, and a sum that the group does not carry out.
void make_refused_group(const ranks::Rank& self, int color, int round) {
  Sums sums(self, self.comm);
  ncclComm_t part = nullptr;
  ncclGroupStart();
  ncclCommSplit(self.comm, color, self.rank, &part, nullptr);
  sums.add(kLarge, 1);
  ncclSend(&sums, kSmall, ncclFloat32, 99, self.comm, self.stream);
  expect(ncclGroupEnd() == ncclInvalidArgument, "a group that is refused", self.rank, round);
  expect(part == nullptr, "a part of it", self.rank, round);
}

void run_parts(ranks::Rank& self) {
  constexpr int kRounds = 8, kNoColor = -1;
  Sums of_all(self, self.comm);
  for (int round = 0; round < kRounds; ++round) {
    // The last rank has no part now and then.
    const int color = self.rank == 3 && round % 4 == 3 ? kNoColor : self.rank % 2;
    if (round % 4 == self.rank) make_refused_group(self, color, round);
    ncclComm_t part = nullptr, second = nullptr;
    const bool groups = (round + self.rank) % 2 == 0;
    if (groups) ncclGroupStart();
    ncclCommSplit(self.comm, color, self.rank, &part, nullptr);
    if (round % 3 == 0) ncclCommSplit(self.comm, 0, self.rank, &second, nullptr);
    of_all.add(kLarge, round);
    if (groups) expect(ncclGroupEnd() == ncclSuccess, "a group", self.rank, round);
    of_all.check(round);
    expect((part == nullptr) == (color == kNoColor), "a part", self.rank, round);
    for (const ncclComm_t each : {part, second}) {
      if (each == nullptr) continue;
      Sums(self, each).agree(100);
      ncclCommDestroy(each);
    }
  }
}

void run_finalize(ranks::Rank& self, const std::string& mode) {
  for (int round = 0; round < 4; ++round) {
    const ncclComm_t part = split(self, 0);
    Sums own(self, part), of_all(self, self.comm);
    own.agree(round % 2 == 0 ? 100 : 3);
    ncclGroupStart();
    if (mode == "large" || mode == "both") of_all.add(kLarge, round);
    if (mode != "small" && mode != "none") own.add(kLarge, 7);
    if (mode == "small" || mode == "both") own.add(kSmall, 7);
    expect(ncclCommFinalize(part) == ncclSuccess, "ncclCommFinalize in a group", self.rank, round);
    if (mode == "more") {
      expect(own.add(kSmall, 7) == ncclInvalidUsage, "a call behind it", self.rank, round);
      expect(ncclGroupEnd() == ncclInvalidUsage, "such a group", self.rank, round);
      of_all.agree(1);  // no rank aborts before the others are here
      ncclCommAbort(part);
      continue;
    }
    if (mode == "simulated") {
      ncclSimInfo_t info{sizeof(ncclSimInfo_t), 0x74685283, 22809, 0};
      expect(ranks::final_result(ncclGroupSimulateEnd(&info)) == ncclSuccess, "simulated",
             self.rank, round);
    } else {
      expect(ranks::final_result(ncclGroupEnd()) == ncclSuccess, "a group", self.rank, round);
      own.check(round);
      of_all.check(round);
    }
    expect(ncclCommFinalize(part) != ncclSuccess, "a second end", self.rank, round);
    ncclCommDestroy(part);
    ranks::comms_of_thread().pop_back();
  }
}

std::size_t entries(const char* folder) {
  std::size_t found = 0;
  DIR* const open = opendir(folder);
  while (readdir(open) != nullptr) ++found;
  closedir(open);
  return found;
}

struct Taken {
  std::size_t heap, descriptors, threads;
  static Taken now() {
    const auto heap = mallinfo2();
    return {heap.uordblks + heap.hblkhd, entries("/proc/self/fd"), entries("/proc/self/task")};
  }
};

void run_many(int count) {
  std::vector<ncclUniqueId> ids;
  for (int round = 0; round < count; ++round) ids.push_back(ranks::new_id());
  std::barrier<> all{2};
  Taken half{};
  ranks::run(2, [&](ranks::Rank& self) {
    for (int round = 0; round < count; ++round) {
      ncclComm_t comm = nullptr;
      if (round % 2 == 0) {
        ncclCommInitRank(&comm, 2, ids[static_cast<std::size_t>(round)], self.rank);
      } else {
        ncclCommSplit(self.comm, 0, self.rank, &comm, nullptr);
      }
      Sums(self, comm).agree(round % 8 < 2 ? 80 : 2);
      ncclCommDestroy(comm);
      all.arrive_and_wait();
      if (self.rank == 0 && round == count / 2) half = Taken::now();
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const Taken end = Taken::now();
  expect(end.heap < half.heap + (1U << 20), "memory grows", 0, static_cast<int>(end.heap >> 10));
  expect(end.descriptors <= half.descriptors + 4, "descriptors grow", 0, count);
  expect(end.threads <= half.threads + 1, "threads grow", 0, count);
}

// As a process with several GPUs does.
void run_together(int count) {
  constexpr int kRanks = 2;
  constexpr std::size_t kCount = 4096;
  std::vector<float> values(kCount, 1.5f);
  std::vector<std::vector<float>> sums(kRanks, std::vector<float>(kCount));
  cudaStream_t streams[kRanks];
  for (cudaStream_t& each : streams) cudaStreamCreate(&each);
  const auto in_group = [&](int at, const char* what, const auto& call) {
    ncclGroupStart();
    for (int rank = 0; rank < kRanks; ++rank) expect(call(rank) == ncclSuccess, what, rank, at);
    expect(ncclGroupEnd() == ncclSuccess, what, kRanks, at);
  };
  for (int at = 0; at < count; ++at) {
    ncclComm_t comms[kRanks];
    const ncclUniqueId id = ranks::new_id();
    in_group(at, "made",
             [&](int rank) { return ncclCommInitRank(&comms[rank], kRanks, id, rank); });
    in_group(at, "called", [&](int rank) {
      return ncclAllReduce(values.data(), sums[rank].data(), kCount, ncclFloat32, ncclSum,
                           comms[rank], streams[rank]);
    });
    for (int rank = 0; rank < kRanks; ++rank) {
      cudaStreamSynchronize(streams[rank]);
      expect(sums[rank] == std::vector<float>(kCount, 3.0f), "sum", rank, at);
    }
    in_group(at, "ended", [&](int rank) { return ncclCommDestroy(comms[rank]); });
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  const std::string mode = count > 2 ? words[2] : "";
  if (what == "many") {
    run_many(std::atoi(mode.c_str()));
  } else if (what == "together") {
    run_together(std::atoi(mode.c_str()));
  } else if (what == "parts") {
    ranks::run(4, run_parts);
  } else {
    ranks::run(4, [&](ranks::Rank& self) { run_finalize(self, mode); });
  }
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
