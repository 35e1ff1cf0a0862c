// How communicators live and end beside ncclCommDestroy and ncclCommAbort, with compressed calls on
// them; and groups that are only simulated. With NCCL_COMM_BLOCKING=0 they do not block. Prints
// "ok".
//
// lives_program finalize|shrink|shrink-dead|shrink-root|revoke|simulate|calms|grow|after-abort
// lives_program alone  one rank
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <future>
#include <map>
#include <random>
#include <string>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 1 << 14, kBytes = sizeof(float) * kCount;
constexpr int kRanks = 4;
constexpr int kCalls = world::kOnGpus ? 150 : 330;  // ranks have agreed by then

std::atomic<int> failures{0};

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  ++failures;
}

std::vector<float> smooth(int rank, int call) {
  std::vector<float> values(kCount);
  for (std::size_t at = 0; at < kCount; ++at) {
    values[at] = static_cast<float>(at / 64 + 1000 * static_cast<std::size_t>(rank)) +
                 static_cast<float>(call);
  }
  return values;
}

std::vector<float> noise(int rank, int call) {
  std::mt19937 random(static_cast<unsigned>(rank + 100 * call));
  std::vector<float> values(kCount);
  for (float& each : values) {
    const std::uint32_t word = random() & 0xBFFFFFFFU;
    std::memcpy(&each, &word, sizeof each);
  }
  return values;
}

// Between the two.
std::vector<float> rough(int rank, int call) {
  std::mt19937 random(static_cast<unsigned>(rank + 100 * call));
  std::vector<float> values(kCount);
  for (float& each : values) {
    const std::uint32_t word = 0x3F800000U | (random() & 0xFFFFFU);
    std::memcpy(&each, &word, sizeof each);
  }
  return values;
}

// The final result of a call, also of one that does not block.
ncclResult_t after(ncclComm_t comm, ncclResult_t result) {
  return result == ncclInProgress ? ranks::state_of(comm) : result;
}

using Values = std::vector<float> (*)(int rank, int call);

// A rank's part of gathers on one communicator.
class Gathers {
 public:
  Gathers(ncclComm_t comm, cudaStream_t stream) : comm_(comm), stream_(stream) {
    ncclCommCount(comm, &ranks_);
    ncclCommUserRank(comm, &rank_);
    all_ = arena_.take(static_cast<std::size_t>(ranks_) * kBytes);
  }

  ncclResult_t enqueue(Values values, int call) {
    world::write(mine_, values(rank_, call).data(), kBytes);
    return again();
  }
  ncclResult_t again() {
    return after(comm_, ncclAllGather(mine_, all_, kCount, ncclFloat32, comm_, stream_));
  }

  // After the stream has come past.
  void check(Values values, int call, const std::string& what) const {
    for (int rank = 0; rank < ranks_; ++rank) {
      const std::vector<float> theirs = values(rank, call);
      const auto found = world::read(all_ + static_cast<std::size_t>(rank) * kBytes, kBytes);
      const bool same = std::memcmp(theirs.data(), found.data(), kBytes) == 0;
      expect(same, what + ", call " + std::to_string(call));
    }
  }

  void agree() {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // ranks find each other
    for (int call = 0; call < kCalls && failures == 0; ++call) {
      const ncclResult_t came = enqueue(smooth, call);
      expect(came == ncclSuccess, "a call: " + std::to_string(came));
      cudaStreamSynchronize(stream_);
      check(smooth, call, "values");
    }
  }

 private:
  ncclComm_t comm_;
  cudaStream_t stream_;
  int rank_ = 0, ranks_ = 0;
  world::Arena arena_;
  std::byte* const mine_ = arena_.take(kBytes);
  std::byte* all_ = nullptr;
};

void finalize(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  gathers.agree();
  expect(gathers.enqueue(noise, 0) == ncclSuccess, "a call before the end");
  for (int more = 0; more < 3; ++more) gathers.again();
  expect(after(self.comm, ncclCommFinalize(self.comm)) == ncclSuccess, "ncclCommFinalize");
  // On GPUs NCCL does not look for it.
  if (!world::kOnGpus) {
    expect(gathers.again() == ncclInvalidUsage, "a call behind ncclCommFinalize");
  }
  expect(ncclCommDestroy(self.comm) == ncclSuccess, "ncclCommDestroy");
  self.comm = nullptr;
  self.synchronize();
  gathers.check(noise, 0, "values after the end");
}

// If calls do not block, the part's handle is there when the parent is ready, whatever the call has
// returned; then the part may be in progress. The handle may be there first, while the parent takes
// no other call yet. A parent that has lost a rank is not ready any more, and the handle comes all
// the same.
void expect_made(ncclComm_t parent, const ncclComm_t& made, ncclResult_t result, const char* what) {
  const auto handle = [&] { return __atomic_load_n(&made, __ATOMIC_ACQUIRE); };
  if (result == ncclInProgress || result == ncclSuccess) result = ranks::state_of(parent);
  for (int waited = 0; result != ncclSuccess && handle() == nullptr && waited < 5000; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (handle() != nullptr) result = ranks::state_of(handle());
  expect(result == ncclSuccess, what);
}

ncclComm_t shrunk(const ranks::Rank& self, int lost, int flags) {
  ncclComm_t made = nullptr;
  const ncclResult_t result = ncclCommShrink(self.comm, &lost, 1, &made, nullptr, flags);
  expect_made(self.comm, made, result, "ncclCommShrink");
  return made;
}

// The ranks that are left compress, twice; so do parts that all ranks of the parent make later.
void shrink(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  gathers.agree();
  if (self.rank != 3) {
    ncclComm_t three[2] = {shrunk(self, 3, 0), shrunk(self, 3, 0)};
    for (ncclComm_t each : three) {
      Gathers(each, self.stream).agree();
      ncclCommDestroy(each);
    }
  }
  ncclComm_t half = nullptr;
  const ncclResult_t result = ncclCommSplit(self.comm, self.rank % 2, 0, &half, nullptr);
  expect_made(self.comm, half, result, "ncclCommSplit");
  Gathers(half, self.stream).agree();
  ncclCommDestroy(half);
}

// A rank leaves with a call under way at the others.
void shrink_dead(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  gathers.agree();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // all have their values
  if (self.rank == 3) {
    ncclCommAbort(self.comm);
    self.comm = nullptr;
    return;
  }
  gathers.enqueue(noise, 0);  // which fails, if it is known by then
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const ncclComm_t three = shrunk(self, 3, NCCL_SHRINK_ABORT);
  expect(gathers.again() != ncclSuccess, "a call on what has lost a rank");
  ncclCommAbort(self.comm);
  self.comm = nullptr;
  self.synchronize();
  Gathers(three, self.stream).agree();
  ncclCommDestroy(three);
}

void shrink_root(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  gathers.agree();
  if (self.rank == 0) return;
  const ncclComm_t three = shrunk(self, 0, 0);
  Gathers(three, self.stream).agree();
  ncclCommDestroy(three);
}

// All ranks stop what is under way, which one of them stays away from.
void revoke(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  gathers.agree();
  if (self.rank != 0) gathers.enqueue(noise, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  expect(after(self.comm, ncclCommRevoke(self.comm, 0)) == ncclSuccess, "ncclCommRevoke");
  self.synchronize();
  expect(gathers.again() != ncclSuccess, "a call behind ncclCommRevoke");
  if (self.rank == 3) return;
  const ncclComm_t three = shrunk(self, 3, 0);
  Gathers(three, self.stream).agree();
  ncclCommDestroy(three);
}

// One rank simulates groups, the others do not.
void simulate(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  gathers.agree();
  world::Arena arena;
  const std::byte* const other = arena.take(kBytes);
  for (int call = 0; call < 50; ++call) {
    if (self.rank == call % kRanks) {
      ncclSimInfo_t info{sizeof(ncclSimInfo_t), 0x74685283, 22809, 0};
      ncclGroupStart();
      gathers.enqueue(smooth, -1);
      ncclGroupStart();
      const int next = (self.rank + 1) % kRanks;
      // NCCL on GPUs would connect to the other rank, which has no such group.
      if (!world::kOnGpus) ncclSend(other, kCount, ncclFloat32, next, self.comm, self.stream);
      ncclGroupSimulateEnd(&info);
      for (int more = 0; more < call % 3; ++more) gathers.again();
      expect(ncclGroupSimulateEnd(&info) == ncclSuccess, "ncclGroupSimulateEnd");
      const auto calls = static_cast<float>(2 + call % 3);
      expect(world::kOnGpus || info.estimatedTime == calls, "the estimate");
      self.synchronize();
    }
    expect(gathers.enqueue(smooth, call) == ncclSuccess, "a call behind a simulated group");
    self.synchronize();
    gathers.check(smooth, call, "values behind a simulated group");
  }
  ncclComm_t half = nullptr;
  const ncclResult_t split = ncclCommSplit(self.comm, self.rank % 2, 0, &half, nullptr);
  expect_made(self.comm, half, split, "ncclCommSplit");
  Gathers(half, self.stream).agree();
  ncclCommDestroy(half);
}

// From the rank that has one to another.
ncclUniqueId handed_on(const ncclUniqueId* given) {
  if (ranks::file() != nullptr) {
    return ranks::id_by_file(given, std::string(ranks::file()) + ".grown");
  }
  static std::promise<ncclUniqueId> promised;
  static const std::shared_future<ncclUniqueId> id = promised.get_future().share();
  if (given != nullptr) promised.set_value(*given);
  return id.get();
}

// Three ranks, and a fourth that joins them; then all are suspended for a while.
void grow(ranks::Rank& self) {
  constexpr int kNoColor = -1;
  const bool is_new = self.rank == 3;
  ncclComm_t three = nullptr, four = nullptr;
  const ncclResult_t split = ncclCommSplit(self.comm, is_new ? kNoColor : 0, 0, &three, nullptr);
  expect_made(self.comm, three, split, "ncclCommSplit");
  expect((three == nullptr) == is_new, "ncclCommSplit without a color");
  if (!is_new) Gathers(three, self.stream).agree();
  ncclUniqueId own{};
  if (self.rank == 1) {
    expect(ncclCommGetUniqueId(three, &own) == ncclSuccess, "ncclCommGetUniqueId");
    handed_on(&own);
  }
  if (is_new) own = handed_on(nullptr);
  const ncclUniqueId* const known = self.rank == 1 || is_new ? &own : nullptr;
  const ncclResult_t made = ncclCommGrow(three, 4, known, is_new ? 3 : -1, &four, nullptr);
  expect(made == ncclSuccess || made == ncclInProgress, "ncclCommGrow");
  expect(ranks::state_of(four) == ncclSuccess, "what has grown");
  if (!is_new) ncclCommDestroy(three);
  Gathers gathers(four, self.stream);
  gathers.agree();
  expect(gathers.enqueue(noise, 0) == ncclSuccess, "a call before ncclCommSuspend");
  expect(after(four, ncclCommSuspend(four, 1)) == ncclSuccess, "ncclCommSuspend");
  self.synchronize();
  gathers.check(noise, 0, "values before ncclCommSuspend");
  // NCCL 2.32.3 takes such a call, and its kernels read memory that it has given back.
  if (!world::kOnGpus) expect(gathers.again() == ncclInvalidUsage, "a call while suspended");
  expect(after(four, ncclCommResume(four)) == ncclSuccess, "ncclCommResume");
  for (int call = 0; call < 30; ++call) {
    expect(gathers.enqueue(smooth, call) == ncclSuccess, "a call behind ncclCommResume");
    self.synchronize();
    gathers.check(smooth, call, "values behind ncclCommResume");
  }
  ncclCommDestroy(four);
}

// NCCL still refuses calls of a communicator that is none any more; another one works.
void behind_abort(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  gathers.agree();
  ncclComm_t next = nullptr, none = nullptr;
  const ncclResult_t split = ncclCommSplit(self.comm, 0, self.rank, &next, nullptr);
  expect_made(self.comm, next, split, "ncclCommSplit");
  self.synchronize();
  const ncclComm_t ended = self.comm;
  ncclCommAbort(self.comm);
  self.comm = nullptr;
  expect(gathers.again() == ncclInvalidArgument, "a call behind ncclCommAbort");
  ncclGroupStart();
  expect(gathers.again() == ncclInvalidArgument, "a call of a group behind ncclCommAbort");
  expect(ncclGroupEnd() == ncclInvalidArgument, "a group behind ncclCommAbort");
  ncclResult_t state = ncclSuccess;
  expect(ncclCommGetAsyncError(ended, &state) == ncclInvalidArgument, "its error");
  expect(ncclCommSplit(ended, 0, 0, &none, nullptr) == ncclInvalidArgument, "a part of it");
  expect(ncclCommFinalize(ended) == ncclInvalidArgument, "ncclCommFinalize behind it");
  expect(ncclCommDestroy(ended) == ncclInvalidArgument, "ncclCommDestroy behind it");
  expect(ncclCommAbort(ended) == ncclInvalidArgument, "ncclCommAbort behind it");
  Gathers(next, self.stream).agree();
  ncclCommDestroy(next);
}

// One rank has nobody to send to but itself.
void alone(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  gathers.agree();
  const std::vector<float> values = smooth(0, 1);
  world::Arena arena;
  std::byte *const own = arena.take(kBytes), *const got = arena.take(kBytes);
  world::write(own, values.data(), kBytes);
  ncclGroupStart();
  ncclSend(own, kCount, ncclFloat32, 0, self.comm, self.stream);
  ncclRecv(got, kCount, ncclFloat32, 0, self.comm, self.stream);
  expect(ncclGroupEnd() == ncclSuccess, "a message to itself");
  self.synchronize();
  expect(std::memcmp(world::read(got, kBytes).data(), values.data(), kBytes) == 0, "its values");
}

// Values that need large slots, and then ones that need small ones.
void calms(ranks::Rank& self) {
  Gathers gathers(self.comm, self.stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int call = 0; call < 1600 && failures == 0; ++call) {
    const Values values = call < 300 ? rough : smooth;
    const ncclResult_t came = gathers.enqueue(values, call);
    expect(came == ncclSuccess, "a call: " + std::to_string(came));
    self.synchronize();
    if (call % 8 == 0) gathers.check(values, call, "values");
  }
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(ranks::Rank&)> modes = {{"finalize", finalize},
                                                               {"shrink", shrink},
                                                               {"shrink-dead", shrink_dead},
                                                               {"shrink-root", shrink_root},
                                                               {"revoke", revoke},
                                                               {"simulate", simulate},
                                                               {"calms", calms},
                                                               {"grow", grow},
                                                               {"behind-abort", behind_abort},
                                                               {"alone", alone}};
  const auto mode = modes.find(count > 1 ? words[1] : "");
  if (mode == modes.end()) return 2;
  ranks::run(mode->second == alone ? 1 : kRanks, mode->second);
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
