// An NCCL program that makes communicators in all ways that there are, knows nothing of Thinwire
// and stays long enough for ranks to find each other. Prints "ok".
//
// membership_program                 threads as ranks
// membership_program RANK RANKS FILE a process of several, which pass the id by a file
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "ranks.h"

namespace {

void sum(ncclComm_t comm, cudaStream_t stream) {
  std::vector<float> data(1 << 15, 1.0F);
  ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat32, ncclSum, comm, stream);
  ranks::state_of(comm);
  cudaStreamSynchronize(stream);
}

void stay() { std::this_thread::sleep_for(std::chrono::milliseconds(800)); }

void wait_until_made(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) ncclCommGetAsyncError(comm, &state);
}

// Splits 4 ranks into two pairs, the second of them made without blocking.
void split(ranks::Rank& self) {
  ncclConfig_t config{sizeof(ncclConfig_t), 0xcafebeef, 22809, self.rank % 2};
  ncclComm_t part = nullptr;
  ncclCommSplit(self.comm, self.rank % 2, self.rank, &part, &config);
  wait_until_made(part);
  sum(part, self.stream);
  sum(self.comm, self.stream);
  stay();
  ncclCommDestroy(part);
}

// All ranks by one thread: in one call, and in a group.
void all_at_once() {
  ncclComm_t all[2] = {}, grouped[3] = {};
  ncclCommInitAll(all, 2, nullptr);
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  ncclGroupStart();
  for (int rank = 0; rank < 3; ++rank) ncclCommInitRank(&grouped[rank], 3, id, rank);
  ncclGroupEnd();
  stay();
  cudaStream_t streams[3] = {};
  for (auto& each : streams) cudaStreamCreate(&each);
  std::vector<float> data(1 << 15, 1.0F);
  const auto sum_on = [&](ncclComm_t comm, int stream) {
    ncclAllReduce(data.data(), data.data(), 8, ncclFloat32, ncclSum, comm, streams[stream]);
  };
  for (int rank = 0; rank < 2; ++rank) sum_on(all[rank], rank);
  for (int rank = 0; rank < 3; ++rank) sum_on(grouped[rank], rank);
  for (auto& each : streams) cudaStreamSynchronize(each);
  for (ncclComm_t each : all) ncclCommDestroy(each);
  for (ncclComm_t each : grouped) ncclCommAbort(each);
}

// Threads as ranks, which have two ids.
void with_two_ids() {
  constexpr int kRanks = 5;
  ncclUniqueId ids[2] = {};
  for (ncclUniqueId& each : ids) ncclGetUniqueId(&each);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&ids, rank] {
      cudaStream_t stream{};
      cudaStreamCreate(&stream);
      ncclConfig_t config{sizeof(ncclConfig_t), 0xcafebeef, 22809, 1};
      ncclComm_t comm = nullptr;
      ncclCommInitRankScalable(&comm, kRanks, rank, 2, ids, &config);
      stay();
      sum(comm, stream);
      ncclCommDestroy(comm);
      cudaStreamDestroy(stream);
    });
  }
  for (std::thread& each : threads) each.join();
}

int run_process(int rank, int ranks, const std::string& path) {
  const ncclUniqueId id = ranks::new_id_by_file(rank, path);
  ncclComm_t comm = nullptr;
  cudaStream_t stream{};
  cudaStreamCreate(&stream);
  ncclCommInitRank(&comm, ranks, id, rank);
  const char* const long_enough = std::getenv("STAY");  // for ranks to be given up
  std::this_thread::sleep_for(std::chrono::milliseconds(long_enough == nullptr ? 800 : 15'000));
  sum(comm, stream);
  std::puts("ok");
  return 0;  // with the communicator alive
}

}  // namespace

int main(int count, char** words) {
  if (count == 4) return run_process(std::atoi(words[1]), std::atoi(words[2]), words[3]);
  ranks::run(4, split);
  all_at_once();
  with_two_ids();
  std::puts("ok");
}
