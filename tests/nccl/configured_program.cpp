// An NCCL program that makes all collectives by their twins of 2.31, which take a configuration of
// the call. All results are checked, and that NCCL has seen each configuration that asks for
// something. What a configuration points to is written over as soon as its call returns. Prints
// "ok".
//
// configured_program MODE ROUNDS [grouped]
//   none    no configuration
//   tagged  one that asks for nothing, with a tag for profilers that differs by rank and call
//   asks    one that asks for a number of CTAs, or for an algorithm
//   later   one of a later version, which is longer
//   turns   all of these, call by call; plain calls between them
//   wrong   ones that NCCL refuses, between calls that are compressed
//   unseen  no configuration; it calls functions that no library over NCCL knows, too
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fake_nccl/configured.h"
#include "ranks.h"

namespace {

constexpr int kRanks = 4, kRoot = 1;
constexpr std::size_t kCount = 20'000;
constexpr int kOperations = 8;

std::atomic<int> failures{0};
std::atomic<int> seen{0}, asked{0};

void expect(bool holds, const char* what, int rank, int round) {
  if (holds || ++failures > 5) return;
  std::fprintf(stderr, "rank %d, round %d: wrong: %s\n", rank, round, what);
}

enum class Kind { kPlain, kNone, kTagged, kCtas, kAlgorithm, kLater, kWrong };

Kind kind_of(const std::string& mode, int round, int operation) {
  if (mode == "tagged") return Kind::kTagged;
  if (mode == "asks") return round % 2 == 0 ? Kind::kCtas : Kind::kAlgorithm;
  if (mode == "later") return Kind::kLater;
  if (mode == "wrong") return round % 16 == 5 ? Kind::kWrong : Kind::kPlain;
  if (mode == "turns") return static_cast<Kind>((round + operation) % 6);
  return Kind::kNone;
}

// The configuration that a call is given, alive until the call returns.
class Given {
 public:
  Given(Kind kind, int rank, int round) : kind_(kind) {
    if (kind == Kind::kPlain || kind == Kind::kNone) return;
    made_.of = {.size = kind == Kind::kLater ? sizeof made_ : sizeof made_.of,
                .magic = kind == Kind::kWrong ? 17 : 0xcafebeef,
                .version = 23203,
                .ext = nullptr,
                .minCTAs = INT_MIN,
                .maxCTAs = INT_MIN,
                .nvlsCTAs = INT_MIN,
                .cgaClusterSize = INT_MIN,
                .algSelection = nullptr,
                .forceAlgSelection = 1,
                .CTAPolicy = INT_MIN,
                .userProfilerTag = static_cast<std::uint64_t>(1000 * rank + round),
                .launchCompletionEvent = nullptr};
    if (kind == Kind::kWrong || kind == Kind::kTagged) return;
    if (kind == Kind::kCtas) made_.of.maxCTAs = 2;
    if (kind == Kind::kAlgorithm) made_.of.algSelection = name_;
    made_.of.ext = &counter();
    ++asked;
  }
  ~Given() {
    std::memset(static_cast<void*>(&made_), 0x5A, sizeof made_);
    std::memset(name_, '?', sizeof name_ - 1);
  }
  const ncclCollConfig_t* get() const {
    return kind_ == Kind::kPlain || kind_ == Kind::kNone ? nullptr : &made_.of;
  }
  bool is_plain() const { return kind_ == Kind::kPlain; }
  ncclResult_t expected() const {
    return kind_ == Kind::kWrong ? ncclInvalidArgument : ncclSuccess;
  }

 private:
  static fake_nccl::Extension& counter() {
    static fake_nccl::Extension made{nullptr, fake_nccl::kVendor, 1, &seen};
    return made;
  }

  Kind kind_;
  struct {
    ncclCollConfig_t of;
    std::uint64_t more[4];
  } made_{};
  char name_[8] = "ring";
};

float value(int rank, std::size_t at, int round) {
  return static_cast<float>(at / 64 % 4096 + static_cast<std::size_t>(round % 50 + 100 * rank));
}

float sum_at(std::size_t at, int round) {
  float sum = 0;
  for (int rank = 0; rank < kRanks; ++rank) sum += value(rank, at, round);
  return sum;
}

// One operation's arrays.
struct Arrays {
  std::vector<float> sent = std::vector<float>(kRanks * kCount);
  std::vector<float> received = std::vector<float>(kRanks * kCount);
};

#define CALL(name, ...)                                                                           \
  (given.is_plain() ? nccl##name(of.sent.data(), of.received.data(), kCount, ncclFloat32,         \
                                 __VA_ARGS__ self.comm, self.stream)                              \
                    : nccl##name##Config(of.sent.data(), of.received.data(), kCount, ncclFloat32, \
                                         __VA_ARGS__ self.comm, self.stream, given.get()))
#define WITH(...) __VA_ARGS__,

ncclResult_t call(int operation, const Given& given, Arrays& of, const ranks::Rank& self) {
  switch (operation) {
    case 0:
      return CALL(AllGather, );
    case 1:
      return CALL(AllReduce, WITH(ncclSum));
    case 2:
      return CALL(ReduceScatter, WITH(ncclSum));
    case 3:
      return CALL(Broadcast, WITH(kRoot));
    case 4:
      return CALL(Reduce, WITH(ncclSum, kRoot));
    case 5:
      return CALL(AlltoAll, );
    case 6:
      return CALL(Gather, WITH(kRoot));
    default:
      return CALL(Scatter, WITH(kRoot));
  }
}

// The expected value at a position of the result; below 0: any value.
float expected(int operation, int rank, std::size_t at, int round) {
  const std::size_t block = at / kCount, in_block = at % kCount;
  const auto from = static_cast<int>(block);
  const std::size_t own = static_cast<std::size_t>(rank) * kCount + in_block;
  const bool is_one = block == 0, is_root = rank == kRoot;
  switch (operation) {
    case 0:
      return value(from, in_block, round);
    case 1:
      return is_one ? sum_at(in_block, round) : -1;
    case 2:
      return is_one ? sum_at(own, round) : -1;
    case 3:
      return is_one ? value(kRoot, in_block, round) : -1;
    case 4:
      return is_one && is_root ? sum_at(in_block, round) : -1;
    case 5:
      return value(from, own, round);
    case 6:
      return is_root ? value(from, in_block, round) : -1;
    default:
      return is_one ? value(kRoot, own, round) : -1;
  }
}

void check(int operation, const Arrays& of, int rank, int round) {
  for (std::size_t at = 0; at < of.received.size(); at += 7) {
    const float wanted = expected(operation, rank, at, round);
    if (wanted < 0 || of.received[at] == wanted) continue;
    return expect(false, ("operation " + std::to_string(operation)).c_str(), rank, round);
  }
}

void run(ranks::Rank& self, const std::string& mode, int rounds, bool grouped) {
  std::vector<Arrays> all(kOperations);
  for (int round = 0; round < rounds && failures == 0; ++round) {
    bool is_refused = false;
    if (grouped) ncclGroupStart();
    for (int operation = 0; operation < kOperations; ++operation) {
      Arrays& of = all[static_cast<std::size_t>(operation)];
      for (std::size_t at = 0; at < of.sent.size(); ++at) of.sent[at] = value(self.rank, at, round);
      const Given given(kind_of(mode, round, operation), self.rank, round);
      const ncclResult_t result = call(operation, given, of, self);
      expect(result == given.expected(), "what a call returns", self.rank, round);
      is_refused = is_refused || given.expected() != ncclSuccess;
    }
    if (grouped) {
      const bool ended = ncclGroupEnd() == ncclSuccess;
      expect(ended != is_refused, "what a group returns", self.rank, round);
    }
    self.synchronize();
    for (int operation = 0; operation < kOperations && !is_refused; ++operation)
      check(operation, all[static_cast<std::size_t>(operation)], self.rank, round);
  }
}

void call_unseen() {
  expect(ncclMoveByLink() == ncclSuccess, "a function that is linked", 0, 0);
  void* const handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
  const auto found = reinterpret_cast<ncclResult_t (*)()>(dlsym(handle, "ncclMoveByName"));
  expect(found != nullptr && found() == ncclSuccess, "one that is looked up", 0, 0);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string mode = words[1];
  const int rounds = std::atoi(words[2]);
  const bool grouped = count > 3 && std::strcmp(words[3], "grouped") == 0;
  ranks::run(kRanks, [&](ranks::Rank& self) {
    // Long enough for ranks to find each other.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    run(self, mode, rounds, grouped);
  });
  if (mode == "unseen") call_unseen();
  expect(seen == asked, "how many configurations NCCL has seen", -1, rounds);
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
