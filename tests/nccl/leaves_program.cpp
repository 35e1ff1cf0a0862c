// Ranks that exchange messages, processes of their own. The last one ends in the middle of it, and
// its process in a way in which nothing runs at its end; the others go on with each other. Prints
// "ok".
//
// leaves_program destroy|finalize|nothing     what the last rank does with its communicator before
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 8 << 10;
constexpr int kTogether = 100;  // by then messages are compressed
constexpr int kAlone = 60;

int failures = 0;

void expect(bool holds, const char* what, int step) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s, step %d\n", what, step);
  ++failures;
}

float value(int from, int to, int step, std::size_t at) {
  return static_cast<float>(at / 32 + static_cast<std::size_t>(from * 7 + to * 3 + step));
}

// A message from each of the first `ranks` to each other of them.
void exchange(ranks::Rank& self, int ranks, int step) {
  std::vector<std::vector<float>> out(ranks), in(ranks);
  ncclResult_t result = ncclGroupStart();
  const auto note = [&](ncclResult_t one) { result = result == ncclSuccess ? one : result; };
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == self.rank) continue;
    for (std::size_t at = 0; at < kCount; ++at) {
      out[rank].push_back(value(self.rank, rank, step, at));
    }
    in[rank].resize(kCount);
    note(ncclSend(out[rank].data(), kCount, ncclFloat32, rank, self.comm, self.stream));
    note(ncclRecv(in[rank].data(), kCount, ncclFloat32, rank, self.comm, self.stream));
  }
  note(ncclGroupEnd());
  expect(result == ncclSuccess, "a call", step);
  self.synchronize();
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t at = 0; rank != self.rank && at < kCount; ++at) {
      if (in[rank][at] == value(rank, self.rank, step, at)) continue;
      return expect(false, "a value", step);
    }
  }
}

void leave(ranks::Rank& self, const std::string& how) {
  if (how == "finalize") ncclCommFinalize(self.comm);
  if (how == "destroy") ncclCommDestroy(self.comm);
  std::puts(failures == 0 ? "ok" : "failed");
  std::fflush(stdout);
  _exit(failures == 0 ? 0 : 1);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  ranks::run(ranks::count(4), [&](ranks::Rank& self) {
    usleep(300'000);  // ranks find each other
    for (int step = 0; step < kTogether; ++step) exchange(self, self.ranks, step);
    if (self.rank == self.ranks - 1) leave(self, words[1]);
    for (int step = kTogether; step < kTogether + kAlone && failures == 0; ++step) {
      usleep(20'000);  // longer in all than a death takes to be known
      exchange(self, self.ranks - 1, step);
    }
    ncclResult_t state = ncclSuccess;
    ncclCommGetAsyncError(self.comm, &state);
    expect(state == ncclSuccess, "ncclCommGetAsyncError", 0);
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
