// Messages from rank 0 to rank 1, each a process, which are compressed. Rank 0 ends its
// communicator and its process as soon as its last send is through; rank 1 receives that one later.
// Prints "ok".
//
// early_program LATE [stays]
// LATE: milliseconds
// stays: rank 0 does not end the communicator
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ranks.h"

namespace {

constexpr int kCalls = 340;
constexpr std::size_t kCount = 12'000;

int failures = 0;

float value(int call, std::size_t at) { return static_cast<float>(at / 64 + 1000 * call); }

void expect(bool holds, const char* what, int call) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s, call %d\n", what, call);
  ++failures;
}

void send(const ranks::Rank& self, std::vector<float>& values, int call) {
  for (std::size_t at = 0; at < kCount; ++at) values[at] = value(call, at);
  const ncclResult_t sent = ncclSend(values.data(), kCount, ncclFloat32, 1, self.comm, self.stream);
  expect(sent == ncclSuccess, "Send", call);
  self.synchronize();
}

void receive(const ranks::Rank& self, std::vector<float>& values, int call) {
  const ncclResult_t received =
      ncclRecv(values.data(), kCount, ncclFloat32, 0, self.comm, self.stream);
  expect(received == ncclSuccess, "Recv", call);
  self.synchronize();
  for (std::size_t at = 0; at < kCount; at += 61) {
    if (values[at] != value(call, at)) return expect(false, "what came", call);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  ranks::run(2, [&](ranks::Rank& self) {
    // Until it is known who has the library.
    usleep(300'000);
    std::vector<float> values(kCount);
    for (int call = 0; call < kCalls; ++call) {
      if (self.rank == 0) send(self, values, call);
      if (self.rank == 0) continue;
      if (call == kCalls - 1) usleep(1000U * static_cast<unsigned>(std::atoi(words[1])));
      receive(self, values, call);
    }
    if (count > 2 && self.rank == 0) self.comm = nullptr;
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
