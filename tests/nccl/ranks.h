// Ranks of a test, as threads of it or as processes.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "world.h"

namespace ranks {

struct Rank {
  int rank;
  int ranks;
  ncclComm_t comm;
  cudaStream_t stream;

  void synchronize() const { cudaStreamSynchronize(stream); }
};

// The communicators of this thread's rank that a call may have left in progress.
inline std::vector<ncclComm_t>& comms_of_thread() {
  static thread_local std::vector<ncclComm_t> of_thread;
  return of_thread;
}

// Waits until a communicator is no longer in progress; returns its state.
inline ncclResult_t state_of(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    const ncclResult_t asked = ncclCommGetAsyncError(comm, &state);
    if (asked != ncclSuccess) return asked;
    if (state == ncclInProgress) std::this_thread::yield();
  }
  return state;
}

// The final result of a call: if calls do not block, after all communicators of this thread have
// reported theirs.
inline ncclResult_t final_result(ncclResult_t result) {
  if (result != ncclInProgress) return result;
  result = ncclSuccess;
  for (const ncclComm_t each : comms_of_thread()) {
    const ncclResult_t state = state_of(each);
    if (result == ncclSuccess) result = state;
  }
  return result;
}

// The file by which ranks that are processes of their own pass ids; null if they are threads.
inline const char* file() {
  const char* const named = std::getenv("RANKS_FILE");
  return named != nullptr && *named != '\0' ? named : nullptr;
}

// The number of this rank, if ranks are processes.
inline int own() { return std::atoi(std::getenv("RANK")); }

// One gives an id, the others wait for it.
inline ncclUniqueId id_by_file(const ncclUniqueId* given, const std::string& path) {
  ncclUniqueId id{};
  if (given != nullptr) {
    id = *given;
    std::ofstream(path + ".new").write(id.internal, sizeof id);
    std::rename((path + ".new").c_str(), path.c_str());
  } else {
    while (access(path.c_str(), R_OK) != 0) usleep(1000);
    std::ifstream(path).read(id.internal, sizeof id);
  }
  return id;
}

// Returns once all `ranks` have come here, each once; for ranks that are processes.
inline void meet_by_files(int rank, int ranks, const std::string& path) {
  std::ofstream(path + ".here." + std::to_string(rank)).flush();
  for (int each = 0; each < ranks; ++each) {
    while (access((path + ".here." + std::to_string(each)).c_str(), R_OK) != 0) usleep(1000);
  }
}

inline ncclUniqueId new_id() {
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  return id;
}

// An id that rank 0 makes.
inline ncclUniqueId new_id_by_file(int rank, const std::string& path) {
  if (rank != 0) return id_by_file(nullptr, path);
  const ncclUniqueId id = new_id();
  return id_by_file(&id, path);
}

inline void run_one(int rank, int ranks, const ncclUniqueId& id,
                    const std::function<void(Rank&)>& work) {
  world::use_gpu(rank);
  Rank self{rank, ranks, nullptr, nullptr};
  cudaStreamCreate(&self.stream);
  // By NCCL_COMM_BLOCKING it may be in progress, which NCCL calls success.
  if (ncclCommInitRank(&self.comm, ranks, id, rank) == ncclSuccess) state_of(self.comm);
  comms_of_thread() = {self.comm};
  work(self);
  self.synchronize();
  // Long enough for ranks that lack the library to be given up.
  if (std::getenv("STAY") != nullptr) std::this_thread::sleep_for(std::chrono::seconds(15));
  if (self.comm != nullptr) ncclCommDestroy(self.comm);
  cudaStreamDestroy(self.stream);
}

// `usual`, unless RANKS says how many.
inline int count(int usual) {
  const char* const named = std::getenv("RANKS");
  return named == nullptr ? usual : std::atoi(named);
}

// Each with a communicator of all and a stream of its own; `work` may end the communicator, and
// sets it to null then. Threads of this process, each with a GPU of its own; if RANKS_FILE is
// set this process is one, RANK. On one GPU ranks have to be processes.
inline void run(int ranks, const std::function<void(Rank&)>& work) {
  if (file() != nullptr) return run_one(own(), ranks, new_id_by_file(own(), file()), work);
  const ncclUniqueId id = new_id();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { run_one(rank, ranks, id, work); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ranks
