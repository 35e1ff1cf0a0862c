// An NCCL program that a system at its limits runs (refuse.cpp): communicators are made, split and
// ended, calls are made alone and in groups, with reductions of its own. A call may fail, in an
// orderly way: the program ends then and prints "refused". What has succeeded must be right.
//
// refused_program calls CALLS   prints "ok"
// refused_program groups CALLS  asks for what is in progress while it has a group open; with
//                               NCCL_COMM_BLOCKING=0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 3000;
constexpr int kRanks = 2;

[[noreturn]] void end(const char* how, int status) {
  std::puts(how);
  std::fflush(stdout);
  std::_Exit(status);  // other ranks may wait for this one
}

void take(ncclResult_t result) {
  if (ranks::final_result(result) != ncclSuccess) end("refused", 0);
}

float value(int rank, int call, std::size_t at) {
  return static_cast<float>((at / 64 + static_cast<std::size_t>(call)) % 512 + 100 * rank);
}

struct Arrays {
  std::vector<float> mine = std::vector<float>(kCount);
  std::vector<float> all = std::vector<float>(kRanks * kCount);
  std::vector<float> sums = std::vector<float>(kCount);
  std::vector<float> come = std::vector<float>(kCount);
};

void fill(Arrays& arrays, int rank, int call) {
  for (std::size_t at = 0; at < kCount; ++at) arrays.mine[at] = value(rank, call, at);
}

// NCCL says of calls that have failed since they were made that they have.
void expect(bool holds, const char* what, ncclComm_t comm) {
  if (holds) return;
  take(ranks::state_of(comm));
  std::fprintf(stderr, "wrong: %s\n", what);
  end("wrong", 1);
}

void check(const Arrays& arrays, ncclComm_t comm, int rank, int call, float factor) {
  for (std::size_t at = 0; at < kCount; ++at) {
    const float sum = value(0, call, at) + value(1, call, at);
    expect(arrays.all[at] == value(0, call, at), "the first block", comm);
    expect(arrays.all[kCount + at] == value(1, call, at), "the second block", comm);
    expect(arrays.sums[at] == factor * sum, "a sum", comm);
    expect(arrays.come[at] == value(1 - rank, call, at), "a message", comm);
  }
}

void make_calls(ranks::Rank& self, ncclComm_t comm, Arrays& arrays, ncclRedOp_t op, bool grouped) {
  if (grouped) take(ncclGroupStart());
  take(
      ncclAllGather(arrays.mine.data(), arrays.all.data(), kCount, ncclFloat32, comm, self.stream));
  take(ncclAllReduce(arrays.mine.data(), arrays.sums.data(), kCount, ncclFloat32, op, comm,
                     self.stream));
  if (!grouped) take(ncclGroupStart());
  take(ncclSend(arrays.mine.data(), kCount, ncclFloat32, 1 - self.rank, comm, self.stream));
  take(ncclRecv(arrays.come.data(), kCount, ncclFloat32, 1 - self.rank, comm, self.stream));
  take(ncclGroupEnd());
}

void run_calls(ranks::Rank& self, int calls) {
  ncclComm_t part = nullptr;
  take(ncclCommSplit(self.comm, 0, self.rank, &part, nullptr));
  float half = 0.5F;
  ncclRedOp_t own = ncclSum;
  take(ncclRedOpCreatePreMulSum(&own, &half, ncclFloat32, ncclScalarHostImmediate, part));
  Arrays arrays;
  for (int call = 0; call < calls; ++call) {
    const bool of_part = call % 2 == 1;
    fill(arrays, self.rank, call);
    const ncclComm_t comm = of_part ? part : self.comm;
    make_calls(self, comm, arrays, of_part ? own : ncclSum, call % 4 >= 2);
    self.synchronize();
    check(arrays, comm, self.rank, call, of_part ? half : 1);
  }
  take(ncclRedOpDestroy(own, part));
  take(ncclCommDestroy(part));
}

void run_groups(ranks::Rank& self, int calls) {
  Arrays arrays;
  for (int call = 0; call < calls; ++call) {
    fill(arrays, self.rank, call);
    const ncclResult_t made = ncclAllReduce(arrays.mine.data(), arrays.sums.data(), kCount,
                                            ncclFloat32, ncclSum, self.comm, self.stream);
    if (made != ncclInProgress) take(made);
    take(ncclGroupStart());
    take(ncclInProgress);
    take(ncclGroupEnd());
    self.synchronize();
    for (std::size_t at = 0; at < kCount; ++at) {
      expect(arrays.sums[at] == value(0, call, at) + value(1, call, at), "a sum", self.comm);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const bool groups = std::strcmp(words[1], "groups") == 0;
  const int calls = std::atoi(words[2]);
  ranks::run(kRanks, [&](ranks::Rank& self) {
    if (self.comm == nullptr) end("refused", 0);
    groups ? run_groups(self, calls) : run_calls(self, calls);
  });
  std::puts("ok");
}
