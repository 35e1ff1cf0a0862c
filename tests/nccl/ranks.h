// Ranks of a test as threads of it.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "fake_nccl/fake_cuda.h"

namespace ranks {

struct Rank {
  int rank;
  int ranks;
  ncclComm_t comm;
  cudaStream_t stream;

  void synchronize() const { cudaStreamSynchronize(stream); }
};

// Each with a communicator of all and a stream of its own; `work` may end the communicator, and
// sets it to null then.
inline void run(int ranks, const std::function<void(Rank&)>& work) {
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Rank self{rank, ranks, nullptr, nullptr};
      cudaStreamCreate(&self.stream);
      ncclCommInitRank(&self.comm, ranks, id, rank);
      work(self);
      self.synchronize();
      if (self.comm != nullptr) ncclCommDestroy(self.comm);
      cudaStreamDestroy(self.stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ranks
