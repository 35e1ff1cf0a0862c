// Groups whose calls are on several streams: NCCL begins none of a group's calls before what is on
// any of these streams, and lets none of them go on before all of the group has ended. So what one
// stream writes a call on another one sends, and what it receives a third one reads. Prints "ok".
//
// joined_program CALLS SEED
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "ranks.h"
#include "world.h"

namespace {

using world::Bytes;

std::atomic<int> failures{0};
constexpr std::size_t kCount = 9000;
constexpr int kStreams = 3;

void check(ncclResult_t result, const char* what) {
  if (ranks::final_result(result) == ncclSuccess) return;
  std::fprintf(stderr, "%s has failed\n", what);
  ++failures;
}

Bytes bytes_of(float value) {
  const std::vector<float> values(kCount, value);
  const auto* const at = reinterpret_cast<const std::byte*>(values.data());
  return {at, at + kCount * sizeof(float)};
}

class Work {
 public:
  Work(ranks::Rank& self, unsigned seed)
      : self_(self), common_(seed), own_(seed * 91 + static_cast<unsigned>(self.rank)) {
    for (cudaStream_t& each : streams_) cudaStreamCreate(&each);
  }
  ~Work() {
    for (const cudaStream_t each : streams_) cudaStreamDestroy(each);
  }

  void step() {
    calls_.clear();
    arena_.give_back_all();
    const unsigned count = 2 + common_() % 3;
    for (unsigned at = 0; at < count; ++at) add(common_() % 4);
    // The group waits for those streams alone that have a call in it.
    // Late, so that whoever does not wait sends what was there before.
    for (const Call& each : calls_) {
      const cudaStream_t stream = any_used();
      for (int at = 0; at < 60; ++at) world::keep_busy(stream);
      world::write_in_order(each.sent, each.given, stream);
    }
    ncclGroupStart();
    for (const Call& each : calls_) make(each);
    check(ncclGroupEnd(), "group");
    for (const Call& each : calls_) {
      cudaStreamSynchronize(any_used());
      look(each);
    }
    for (const cudaStream_t each : streams_) cudaStreamSynchronize(each);
  }

 private:
  struct Call {
    unsigned kind;
    int stream, other;  // of the call, and of the receive that belongs to a send
    Bytes given{};
    float wanted = 0;
    std::byte* sent = nullptr;
    std::byte* received = nullptr;
  };

  float mine(float v) const { return v + static_cast<float>(self_.rank); }
  int pick_stream() { return static_cast<int>(own_() % kStreams); }
  cudaStream_t any_used() {
    const Call& of = calls_[own_() % calls_.size()];
    return streams_[own_() % 2 == 0 ? of.stream : of.other];
  }

  void add(unsigned kind) {
    const auto v = static_cast<float>(++number_ % 1000);
    Call& made = calls_.emplace_back(Call{kind, pick_stream(), pick_stream()});
    if (kind == 0) made.other = made.stream;
    const int before = (self_.rank + self_.ranks - 1) % self_.ranks;
    const auto pairs = static_cast<float>(self_.ranks * (self_.ranks - 1) / 2);
    made.given = bytes_of(mine(v));
    made.wanted =
        kind == 0 ? static_cast<float>(self_.ranks) * v + pairs : v + static_cast<float>(before);
    made.sent = arena_.take(bytes_of(-1));
    made.received = arena_.take(bytes_of(-2));
  }

  // A sum, or a message to the next rank and from the one before, which is raw if it is of whole
  // numbers.
  void make(const Call& of) {
    if (of.kind == 0) {
      check(ncclAllReduce(of.sent, of.received, kCount, ncclFloat32, ncclSum, self_.comm,
                          streams_[of.stream]),
            "AllReduce");
      return;
    }
    const ncclDataType_t type = of.kind == 3 ? ncclInt32 : ncclFloat32;
    const int next = (self_.rank + 1) % self_.ranks;
    const int before = (self_.rank + self_.ranks - 1) % self_.ranks;
    check(ncclSend(of.sent, kCount, type, next, self_.comm, streams_[of.stream]), "Send");
    check(ncclRecv(of.received, kCount, type, before, self_.comm, streams_[of.other]), "Recv");
  }

  void look(const Call& of) {
    std::vector<float> values(kCount);
    world::read(values.data(), of.received, kCount * sizeof(float));
    for (const float each : values) {
      if (each == of.wanted) continue;
      std::fprintf(stderr, "rank %d, kind %u: %g instead of %g\n", self_.rank, of.kind,
                   static_cast<double>(each), static_cast<double>(of.wanted));
      ++failures;
      return;
    }
  }

  ranks::Rank& self_;
  std::mt19937 common_, own_;
  cudaStream_t streams_[kStreams] = {};
  std::deque<Call> calls_;
  unsigned number_ = 0;
  world::Arena arena_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const int calls = std::atoi(words[1]);
  const auto seed = static_cast<unsigned>(std::atoi(words[2]));
  ranks::run(2 + static_cast<int>(seed % 2), [&](ranks::Rank& self) {
    Work of(self, seed);
    for (int call = 0; call < calls; ++call) of.step();
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
