// An NCCL program whose ranks call the same bytes by different types, which NCCL moves as they are:
// what is sent as fp32 is received as it, as int8 or as bf16, in an order that the mode says. Each
// message is checked: to the bit, or, if a lossy codec is known to be at work, what is sent as
// fp32 to that share of its largest value, and what is sent as bf16 until it may be coded as that.
// Prints "ok".
//
// types_program MODE CALLS [ERROR]
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "ranks.h"

namespace {

constexpr std::size_t kBytes = 80'000;

std::atomic<int> failures{0};

void expect(bool holds, const char* what, int rank, int call) {
  if (holds || ++failures > 5) return;
  std::fprintf(stderr, "rank %d, call %d: wrong: %s\n", rank, call, what);
}

struct Types {
  ncclDataType_t sent, received;
};
constexpr Types kAlike{ncclFloat32, ncclFloat32}, kAsBytes{ncclFloat32, ncclInt8},
    kAsHalves{ncclFloat32, ncclBfloat16}, kHalves{ncclBfloat16, ncclBfloat16},
    kBytesAlike{ncclInt8, ncclInt8}, kOfBytes{ncclInt8, ncclFloat32},
    kOfHalves{ncclBfloat16, ncclFloat32};

// Calls by which the ranks have agreed on what came before.
constexpr int kLate = 500;

const std::map<std::string, Types (*)(int call)> kModes{
    {"bytes", [](int) { return kAsBytes; }},
    {"halves", [](int) { return kAsHalves; }},
    // Every other message is received as what it is.
    {"every-other", [](int call) { return call % 2 == 0 ? kAlike : kAsBytes; }},
    // Every message is sent as one type that is coded and received as another.
    {"crossed", [](int call) { return call % 2 == 0 ? kAsHalves : kOfHalves; }},
    // A few that only one end could code, then all alike.
    {"at-first", [](int call) { return call < 5 ? kOfBytes : kAlike; }},
    // Alike until that is compressed.
    {"late-bytes", [](int call) { return call < kLate ? kAlike : kAsBytes; }},
    {"late-halves", [](int call) { return call < kLate ? kAlike : kAsHalves; }},
    {"late-of-bytes", [](int call) { return call < kLate ? kAlike : kOfBytes; }},
    {"late-of-halves", [](int call) { return call < kLate ? kAlike : kOfHalves; }},
    {"late-others", [](int call) { return call < kLate ? kAlike : kHalves; }},
    {"late-integers", [](int call) { return call < kLate ? kAlike : kBytesAlike; }},
    {"late-turns",
     [](int call) {
       constexpr std::array kAll{kAsBytes, kOfBytes, kHalves, kAlike, kAsHalves, kOfHalves};
       return call < kLate ? kAlike : kAll[static_cast<std::size_t>(call % 6)];
     }},
    // Types that differ from message to message, alike at both ends.
    {"mixed",
     [](int call) {
       constexpr std::array kAll{kAlike, kBytesAlike, kHalves};
       return kAll[static_cast<std::size_t>(call % 3)];
     }},
};

std::size_t elements(ncclDataType_t type) {
  return kBytes / (type == ncclFloat32 ? 4 : type == ncclBfloat16 ? 2 : 1);
}

std::vector<float> values(int rank, int call) {
  std::vector<float> made(kBytes / sizeof(float));
  for (std::size_t at = 0; at < made.size(); ++at) {
    made[at] = static_cast<float>(at / 64 + static_cast<std::size_t>(call % 100 + 1000 * rank));
  }
  return made;
}

// Calls in a row of another type by which none of them is coded as that.
constexpr int kOfAnother = 200;

// If all is sent as floats, a codec may have changed the values.
bool is_right(const std::vector<float>& came, const std::vector<float>& sent, ncclDataType_t as,
              int call, double error) {
  if (error > 0 && as == ncclBfloat16 && call > kLate + kOfAnother) return true;
  if (as != ncclFloat32 || error == 0) {
    return std::memcmp(came.data(), sent.data(), kBytes) == 0;
  }
  for (std::size_t at = 0; at < sent.size(); ++at) {
    if (!(std::abs(came[at] - sent[at]) <= error * sent.back())) return false;
  }
  return true;
}

// Both ranks send to each other.
void exchange(ranks::Rank& self, Types (*types)(int), int calls, double error) {
  std::vector<float> came(kBytes / sizeof(float));
  const int peer = 1 - self.rank;
  for (int call = 0; call < calls && failures == 0; ++call) {
    const std::vector<float> own = values(self.rank, call);
    const auto [sent, received] = types(call);
    ncclGroupStart();
    ncclSend(own.data(), elements(sent), sent, peer, self.comm, self.stream);
    ncclRecv(came.data(), elements(received), received, peer, self.comm, self.stream);
    expect(ncclGroupEnd() == ncclSuccess, "a group", self.rank, call);
    self.synchronize();
    expect(is_right(came, values(peer, call), sent, call, error), "a message", self.rank, call);
  }
}

// The first ones by another type on rank 1, then all alike.
void gather(ranks::Rank& self, int calls) {
  std::vector<float> all(2 * kBytes / sizeof(float));
  for (int call = 0; call < calls && failures == 0; ++call) {
    const std::vector<float> own = values(self.rank, call);
    const ncclDataType_t type = call < 5 && self.rank == 1 ? ncclInt8 : ncclFloat32;
    const ncclResult_t result =
        ncclAllGather(own.data(), all.data(), elements(type), type, self.comm, self.stream);
    expect(result == ncclSuccess, "a call", self.rank, call);
    self.synchronize();
    for (int rank = 0; rank < 2; ++rank) {
      const std::byte* const found = reinterpret_cast<const std::byte*>(all.data()) + rank * kBytes;
      const bool same = std::memcmp(found, values(rank, call).data(), kBytes) == 0;
      expect(same, "a gather", self.rank, call);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string mode = words[1];
  const int calls = std::atoi(words[2]);
  const double error = count > 3 ? std::atof(words[3]) : 0;
  ranks::run(2, [&](ranks::Rank& self) {
    // Long enough for ranks to find each other.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (mode == "gathers") return gather(self, calls);
    exchange(self, kModes.at(mode), calls, error);
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
