// Writes which calls of NCCL and CUDA the library makes for one compressed call of the program's on
// a stream, a line an operation, to MADE_CALLS: "AllGather pncclAllGather=1 ...". Prints "ok".
//
// Ranks are processes (RANKS_FILE); tests/nccl/counted_calls.cpp is preloaded after the library.
#include <dlfcn.h>

#include "counted_calls.h"
#include "ranks.h"

namespace {

constexpr std::size_t kCount = 1 << 16;
// Calls in a row that have to be alike: all are compressed then.
constexpr int kSteady = 20, kMostCalls = 4000;
// Between two calls: long enough for the library to see that nothing is under way.
constexpr auto kPause = std::chrono::milliseconds(5);

struct Rank {
  ranks::Rank& self;
  std::vector<float> send = std::vector<float>(4 * kCount, 1);
  std::vector<float> receive = std::vector<float>(4 * kCount);
};

CountedCalls calls_of(Rank& of, void (*make)(Rank&), decltype(&take_counted_calls) take) {
  CountedCalls counted, last;
  int alike = 0;
  for (int call = 0; call < kMostCalls && alike < kSteady; ++call) {
    take(counted);
    make(of);
    take(counted);
    of.self.synchronize();
    std::this_thread::sleep_for(kPause);
    // The service thread may sleep.
    if (counted["pthread_cond_signal"] <= 1) counted.erase("pthread_cond_signal");
    const bool is_compressed = counted["cudaLaunchHostFunc"] > 1;
    alike = is_compressed && counted == last ? alike + 1 : 0;
    last = counted;
  }
  return alike == kSteady ? counted : CountedCalls{{"never alike", 1}};
}

struct Operation {
  const char* name;
  void (*make)(Rank&);
};

constexpr Operation kOperations[] = {
    {"AllGather",
     [](Rank& of) {
       ncclAllGather(of.send.data(), of.receive.data(), kCount, ncclFloat32, of.self.comm,
                     of.self.stream);
     }},
    {"ReduceScatter",
     [](Rank& of) {
       ncclReduceScatter(of.send.data(), of.receive.data(), kCount, ncclFloat32, ncclSum,
                         of.self.comm, of.self.stream);
     }},
    {"AllReduce",
     [](Rank& of) {
       ncclAllReduce(of.send.data(), of.receive.data(), 4 * kCount, ncclFloat32, ncclSum,
                     of.self.comm, of.self.stream);
     }},
};

}  // namespace

int main() {
  const auto take =
      reinterpret_cast<decltype(&take_counted_calls)>(dlsym(RTLD_DEFAULT, "take_counted_calls"));
  if (take == nullptr) return 1;
  ranks::run(4, [&](ranks::Rank& self) {
    Rank of{self};
    std::ofstream out(std::string(std::getenv("MADE_CALLS")) + std::to_string(self.rank));
    for (const Operation& each : kOperations) {
      out << each.name;
      for (const auto& [name, count] : calls_of(of, each.make, take)) {
        if (count > 0) out << ' ' << name << '=' << count;
      }
      out << '\n';
    }
  });
  std::puts("ok");
}
