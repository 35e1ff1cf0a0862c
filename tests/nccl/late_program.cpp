// A rank, as a process, whose last calls come while the thread or the process ends: from a
// destructor of a thread's object, of a static one, or a function of atexit(). Prints "ok" if all
// of them are right.
//
// late_program thread|static|exit
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 9000;
constexpr int kRanks = 2;

struct User {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  int failures = 0;

  void begin() {
    const ncclUniqueId id = ranks::new_id_by_file(ranks::own(), ranks::file());
    cudaStreamCreate(&stream);
    ncclCommInitRank(&comm, kRanks, id, ranks::own());
    call(150);
  }
  void call(int times) {
    std::vector<float> mine(kCount), sums(kCount), root(kCount);
    for (int at = 0; at < times; ++at) {
      const auto v = static_cast<float>(at % 50);
      mine.assign(kCount, v + static_cast<float>(ranks::own()));
      ncclGroupStart();
      ncclAllReduce(mine.data(), sums.data(), kCount, ncclFloat32, ncclSum, comm, stream);
      ncclBroadcast(mine.data(), root.data(), kCount, ncclFloat32, 1, comm, stream);
      const ncclResult_t result = ncclGroupEnd();
      cudaStreamSynchronize(stream);
      const bool right = sums == std::vector<float>(kCount, 2 * v + 1) &&
                         root == std::vector<float>(kCount, v + 1);
      if (result != ncclSuccess || !right) ++failures;
    }
  }
  void end() {
    call(150);
    ncclCommDestroy(comm);
    std::puts(failures == 0 ? "ok" : "failed");
  }
};

User user;

struct AtEnd {
  bool ends = false;
  ~AtEnd() {
    if (ends) user.end();
  }
};

AtEnd of_process;
thread_local AtEnd of_thread;

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string where = words[1];
  if (where == "static") of_process.ends = true;
  if (where == "exit") std::atexit([] { user.end(); });
  if (where != "thread") {
    user.begin();
    return 0;
  }
  std::thread([] {
    of_thread.ends = true;  // so that it is older than what the library keeps for the thread
    user.begin();
  }).join();
  return 0;
}
