// Four ranks that gather, add and send in memory that is registered with NCCL, or not. All results
// are checked. Prints "ok".
//
// windows_program MODE CALLS
//   all      gathers and messages in windows of symmetric memory, sums elsewhere
//   group    likewise, registered in a group
//   one      what rank 2 gathers alone lies in a window
//   plain    in memory that is registered, which is no window
//   local    in windows that are not symmetric
//   other    in windows of another communicator
//   reused   in windows for a fifth of the calls; then the same memory is in none
//   late     in none for a third of the calls; then in windows, while calls are under way
//   zero     on a communicator with the zero-CTA policy
//   zero1    on one that has it on rank 1 alone
//   zeropart on a part of one, without a configuration
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "fake_nccl/registration.h"
#include "ranks.h"

namespace {

constexpr int kRanks = 4;
constexpr std::size_t kCount = 20'000;
constexpr std::size_t kBytes = kCount * sizeof(float);

void expect(bool holds, const char* what, int rank, int call) {
  if (holds) return;
  std::fprintf(stderr, "rank %d, call %d: wrong: %s\n", rank, call, what);
  std::_Exit(1);
}

// Communicators may not block.
void done(ncclResult_t result) {
  expect(ranks::final_result(result) == ncclSuccess, "a call's result", -1, -1);
}

// As NCCL 2.28's begins.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef, version = 22809;
  int blocking = INT_MIN;
  int cga = INT_MIN, least = INT_MIN, most = INT_MIN;
  const char* net = nullptr;
  int shares = INT_MIN, traffic = INT_MIN;
  const char* name = nullptr;
  int collnet = INT_MIN, policy = INT_MIN;
  int more[8] = {INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN};
};
static_assert(offsetof(Config, name) == 48 && offsetof(Config, policy) == 60);

ncclComm_t part(ncclComm_t of, int rank, int policy) {
  Config config;
  config.policy = policy;
  ncclComm_t made = nullptr;
  expect(ncclCommSplit(of, 0, rank, &made, reinterpret_cast<ncclConfig_t*>(&config)) == ncclSuccess,
         "a part", rank, -1);
  return made;
}

struct Arrays {
  std::vector<float> mine = std::vector<float>(kCount), sums = std::vector<float>(kCount),
                     got = std::vector<float>(kCount), all = std::vector<float>(kRanks * kCount);
};

class Windows {
 public:
  void add(const ranks::Rank& self, Arrays& of, const std::string& mode) {
    comm_ = self.comm;
    const int flags = mode == "local" ? 0 : NCCL_WIN_COLL_SYMMETRIC;
    as_group_ = mode == "group";
    std::vector<float> elsewhere(16);
    if (as_group_) ncclGroupStart();
    add(mode == "one" && self.rank != 2 ? elsewhere : of.all, flags);
    add(mode == "one" ? elsewhere : of.got, flags);
    if (as_group_) {
      look_from_another_thread();
      done(ncclGroupEnd());
    }
    keep_.push_back(std::move(elsewhere));
  }
  void remove() {
    for (const ncclWindow_t each : made_) ncclCommWindowDeregister(comm_, each);
    made_.clear();
  }

 private:
  // As a watchdog does, at any time.
  void look_from_another_thread() const {
    std::thread([this] {
      ncclResult_t state = ncclSuccess;
      ncclCommGetAsyncError(comm_, &state);
    }).join();
  }
  void add(std::vector<float>& of, int flags) {
    ncclWindow_t& made = made_.emplace_back();
    const std::size_t bytes = of.size() * sizeof(float);
    const ncclResult_t result = ncclCommWindowRegister(comm_, of.data(), bytes, &made, flags);
    as_group_ ? expect(result == ncclSuccess || result == ncclInProgress, "a window", -1, -1)
              : done(result);
  }

  ncclComm_t comm_ = nullptr;
  bool as_group_ = false;
  std::vector<ncclWindow_t> made_ = [] {
    std::vector<ncclWindow_t> made;
    made.reserve(8);
    return made;
  }();
  std::vector<std::vector<float>> keep_;
};

void check(const ranks::Rank& self, const Arrays& of, int call) {
  const auto value = [&](int rank, std::size_t at) {
    return static_cast<float>(at / 64 + static_cast<std::size_t>(call + 100 * rank));
  };
  const int before = (self.rank + kRanks - 1) % kRanks;
  for (std::size_t at = 0; at < kCount; at += 61) {
    float sum = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::size_t place = static_cast<std::size_t>(rank) * kCount + at;
      expect(of.all[place] == value(rank, at), "what is gathered", self.rank, call);
      sum += value(rank, at);
    }
    expect(of.sums[at] == sum, "a sum", self.rank, call);
    expect(of.got[at] == value(before, at), "a message", self.rank, call);
  }
}

void make_calls(const ranks::Rank& self, Arrays& of, int call) {
  for (std::size_t at = 0; at < kCount; ++at)
    of.mine[at] = static_cast<float>(at / 64 + static_cast<std::size_t>(call + 100 * self.rank));
  done(ncclAllGather(of.mine.data(), of.all.data(), kCount, ncclFloat32, self.comm, self.stream));
  done(ncclAllReduce(of.mine.data(), of.sums.data(), kCount, ncclFloat32, ncclSum, self.comm,
                     self.stream));
  ncclGroupStart();
  ncclSend(of.mine.data(), kCount, ncclFloat32, (self.rank + 1) % kRanks, self.comm, self.stream);
  ncclRecv(of.got.data(), kCount, ncclFloat32, (self.rank + kRanks - 1) % kRanks, self.comm,
           self.stream);
  done(ncclGroupEnd());
}

void run(ranks::Rank self, const std::string& mode, int calls) {
  ncclComm_t other = nullptr;
  if (mode == "other") ncclCommSplit(self.comm, 0, self.rank, &other, nullptr);
  if (mode == "zero" || mode == "zeropart") self.comm = other = part(self.comm, self.rank, 2);
  if (mode == "zero1") self.comm = other = part(self.comm, self.rank, self.rank == 1 ? 2 : 0);
  if (mode == "zeropart") ncclCommSplit(other, 0, self.rank, &self.comm, nullptr);
  Arrays of;
  Windows windows;
  void* handle = nullptr;
  const int late = mode == "late" ? calls / 3 : 0;
  for (int call = 0; call < calls; ++call) {
    make_calls(self, of, call);
    if (call == late && mode == "plain") {
      expect(ncclCommRegister(self.comm, of.all.data(), kRanks * kBytes, &handle) == ncclSuccess,
             "a registration", self.rank, call);
    } else if (call == late && !mode.starts_with("zero")) {
      ranks::Rank with = self;
      if (mode == "other") with.comm = other;
      windows.add(with, of, mode);
    }
    if (mode == "reused" && call == calls / 5) windows.remove();
    self.synchronize();
    check(self, of, call);
    // Ranks agree meanwhile, also on a busy machine.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  windows.remove();
  if (handle != nullptr) ncclCommDeregister(self.comm, handle);
  if (mode == "zeropart") ncclCommDestroy(self.comm);
  if (other != nullptr) ncclCommDestroy(other);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string mode = words[1];
  ranks::run(kRanks, [&](ranks::Rank& self) { run(self, mode, std::atoi(words[2])); });
  std::puts("ok");
  return 0;
}
