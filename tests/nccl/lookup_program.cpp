// A program that opens NCCL itself and looks its functions up, as some of Python's packages do.
//
// lookup_program run PATH HOW              4 ranks gather arrays of their own, and check them; HOW:
//                                          local, global, deepbind; prints "ok"
// lookup_program names PATH NAME...        a line a name: which file has it, or "none"; first in
//                                          the handle, then by RTLD_DEFAULT
// lookup_program second PATH OTHER NAME    of two NCCLs: in the first, then in the other
// lookup_program scopes MODULE             what RTLD_NEXT and RTLD_DEFAULT mean in a module
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fake_nccl/fake_cuda.h"
#include "fake_nccl/registration.h"

// lookup_module.c has one of this name too.
extern "C" __attribute__((visibility("default"))) int lookup_which() { return 1; }
extern "C" int lookup_next();

namespace {

constexpr int kRanks = 4;
constexpr int kCalls = 340;
constexpr std::size_t kCount = 20'000;
constexpr std::size_t kBytes = kRanks * kCount * sizeof(float);

std::atomic<int> failures{0};

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

void* open(const char* path, int flags) {
  void* const handle = dlopen(path, flags);
  if (handle != nullptr) return handle;
  std::fprintf(stderr, "failed: %s\n", dlerror());
  std::exit(1);
}

// clang-format off
#define LOOKED_UP(X)                                                          \
  X(ncclGetVersion) X(ncclGetUniqueId) X(ncclCommInitRank) X(ncclCommDestroy) \
  X(ncclCommRegister) X(ncclCommDeregister) X(ncclMemAlloc) X(ncclMemFree)    \
  X(ncclAllGather) X(cudaStreamCreate) X(cudaStreamSynchronize) X(cudaStreamDestroy)
// clang-format on

struct Nccl {
#define MEMBER(name) decltype(&::name) name;
  LOOKED_UP(MEMBER)
#undef MEMBER
};

Nccl look_up(void* handle) {
  Nccl found{};
#define LOOK_UP(name)                                                        \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(handle, #name)); \
  expect(found.name != nullptr, #name);
  LOOKED_UP(LOOK_UP)
#undef LOOK_UP
  if (failures != 0) std::exit(1);
  return found;
}

float value(int rank, std::size_t at) {
  return 100.0F * static_cast<float>(rank) + static_cast<float>(at / 64);
}

void gather(const Nccl& nccl, const ncclUniqueId& id, int rank) {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  nccl.cudaStreamCreate(&stream);
  expect(nccl.ncclCommInitRank(&comm, kRanks, id, rank) == ncclSuccess, "ncclCommInitRank");
  std::vector<float> own(kCount);
  void *memory = nullptr, *handle = nullptr;
  expect(nccl.ncclMemAlloc(&memory, kBytes) == ncclSuccess, "ncclMemAlloc");
  expect(nccl.ncclCommRegister(comm, memory, kBytes, &handle) == ncclSuccess, "ncclCommRegister");
  const std::span all(static_cast<float*>(memory), kRanks * kCount);
  for (std::size_t at = 0; at < kCount; ++at) own[at] = value(rank, at);
  for (int call = 0; call < kCalls; ++call) {
    std::ranges::fill(all, -1.0F);
    const auto result =
        nccl.ncclAllGather(own.data(), all.data(), kCount, ncclFloat32, comm, stream);
    expect(result == ncclSuccess, "ncclAllGather");
    nccl.cudaStreamSynchronize(stream);
    for (std::size_t at = 0; at < all.size() && failures == 0; ++at) {
      expect(all[at] == value(static_cast<int>(at / kCount), at % kCount), "a value");
    }
  }
  expect(nccl.ncclCommDeregister(comm, handle) == ncclSuccess, "ncclCommDeregister");
  expect(nccl.ncclMemFree(memory) == ncclSuccess, "ncclMemFree");
  nccl.ncclCommDestroy(comm);
  nccl.cudaStreamDestroy(stream);
}

int run(const char* path, const std::string& how) {
  const int flag = how == "global" ? RTLD_GLOBAL : how == "deepbind" ? RTLD_DEEPBIND : RTLD_LOCAL;
  const Nccl nccl = look_up(open(path, RTLD_NOW | flag));
  int version = 0;
  nccl.ncclGetVersion(&version);
  expect(version > 20000, "ncclGetVersion");
  ncclUniqueId id{};
  nccl.ncclGetUniqueId(&id);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank)
    ranks.emplace_back([&, rank] { gather(nccl, id, rank); });
  for (std::thread& rank : ranks) rank.join();
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}

void print_found(void* handle, const char* name) {
  dlerror();
  void* const found = dlsym(handle, name);
  const char* const error = dlerror();
  Dl_info about{};
  if (found == nullptr) {
    std::printf("%s none%s\n", name, error == nullptr ? ", no error" : "");
  } else if (dladdr(found, &about) != 0) {
    const char* const file = std::strrchr(about.dli_fname, '/');
    std::printf("%s %s%s\n", name, file == nullptr ? about.dli_fname : file + 1,
                error == nullptr ? "" : ", and an error");
  }
}

// The one that the program is linked to lies after what is preloaded.
int print_scopes(const char* path) {
  const auto ask =
      reinterpret_cast<int (*)()>(dlsym(open(path, RTLD_NOW | RTLD_LOCAL), "lookup_default"));
  std::printf("next %d, default %d\n", lookup_next(), ask == nullptr ? -1 : ask());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 2 ? words[1] : "";
  if (what == "run" && count == 4) return run(words[2], words[3]);
  if (what == "scopes") return print_scopes(words[2]);
  if (what == "second" && count == 5) {
    void* const first = open(words[2], RTLD_NOW | RTLD_LOCAL);
    void* const other = open(words[3], RTLD_NOW | RTLD_LOCAL);
    print_found(first, words[4]);
    for (int time = 0; time < 2; ++time) {
      Dl_info about{};
      const bool found = dladdr(dlsym(other, words[4]), &about) != 0;
      std::puts(found && std::strcmp(about.dli_fname, words[3]) == 0 ? "the other" : "not its");
    }
    return 0;
  }
  if (what != "names") return 2;
  for (int at = 3; at < count; ++at) print_found(RTLD_DEFAULT, words[at]);
  void* const handle = open(words[2], RTLD_NOW | RTLD_LOCAL);
  for (int at = 3; at < count; ++at) print_found(handle, words[at]);
  for (int at = 3; at < count; ++at) print_found(RTLD_DEFAULT, words[at]);
  return 0;
}
