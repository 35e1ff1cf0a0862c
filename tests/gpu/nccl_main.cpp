// Compressed collectives and messages over NCCL, on two GPUs of this machine. NCCL is the file that
// THINWIRE_NCCL names, or libnccl.so.2. Exit code 0 where all went well, 77 and the reason where
// it cannot be tried, 1 and what went wrong, 3 where a minute was not enough.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "nccl_rank.h"
#include "transport/nccl/transport.h"

namespace thinwire::nccl_test {
namespace {

constexpr int kSkipped = 77;
constexpr int kTimedOut = 3;
constexpr auto kLongest = std::chrono::seconds(60);

std::atomic<bool> over{false};

// A rank that waits for another cannot be helped otherwise.
void watch() {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (!over) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (std::chrono::steady_clock::now() < end) continue;
    std::printf("FAILED: not done after a minute\n");
    std::fflush(stdout);
    std::_Exit(kTimedOut);
  }
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool load(Nccl& nccl) {
  const char* const named = std::getenv("THINWIRE_NCCL");
  void* const library =
      dlopen(named != nullptr && *named != '\0' ? named : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("skipped: %s\n", dlerror());
    return false;
  }
  expect(find(library, "ncclCommInitAll", nccl.init_all) &&
             find(library, "ncclCommDestroy", nccl.destroy) &&
             find(library, "ncclAllGather", nccl.all_gather) &&
             find(library, "ncclGetErrorString", nccl.error_string),
         "libnccl lacks functions");
  return true;
}

void run(int number, ncclComm_t communicator, std::barrier<>& all, const Nccl& nccl) {
  cuda(cudaSetDevice(number), "cudaSetDevice");
  Rank rank{number, nullptr, communicator, nullptr, &all, &nccl};
  cuda(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  auto end = transport::make_nccl(communicator);
  good(end.status(), "make_nccl");
  expect((*end)->rank() == number && (*end)->size() == kRanks, "NCCL counts other ranks");
  rank.transport = end->get();
  rank.meet();
  test_allgather(rank);
  test_allreduce(rank);
  test_sized_messages(rank);
  good(rank.transport->check(), "NCCL's state");
  rank.finish();
  rank.meet();
}

int run_all() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < kRanks) {
    std::printf("skipped: %d GPUs, %d are needed\n", devices, kRanks);
    return kSkipped;
  }
  Nccl nccl{};
  if (!load(nccl)) return kSkipped;
  std::thread watchman(watch);
  const int numbers[kRanks] = {0, 1};
  ncclComm_t communicators[kRanks] = {};
  nccl.check(nccl.init_all(communicators, kRanks, numbers), "ncclCommInitAll");
  std::barrier all(kRanks);
  std::vector<std::thread> ranks;
  for (int number = 0; number < kRanks; ++number) {
    ranks.emplace_back([&, number] { run(number, communicators[number], all, nccl); });
  }
  for (std::thread& rank : ranks) rank.join();
  // Each waits for the other: they are destroyed at once.
  std::vector<std::thread> ends;
  for (int number = 0; number < kRanks; ++number) {
    ends.emplace_back([&, number] {
      cuda(cudaSetDevice(number), "cudaSetDevice");
      nccl.check(nccl.destroy(communicators[number]), "ncclCommDestroy");
    });
  }
  for (std::thread& end : ends) end.join();
  over = true;
  watchman.join();
  std::printf("ok\n");
  return 0;
}

}  // namespace
}  // namespace thinwire::nccl_test

int main() {
  // Kernels that are loaded at their first launch wait for those that run, and NCCL's may be
  // waiting for the other rank. Multicast is not needed here, and not every machine bears it.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  return thinwire::nccl_test::run_all();
}
