// How every wrapper reaches NCCL.
#pragma once

#include "abi/real.h"

namespace thinwire::nccl {

// NCCL calls itself through its public names (ncclBcast calls ncclBroadcast, ncclCommInitAll calls
// ncclGetUniqueId): what it calls on this thread meanwhile is its own and passes as it is.
class Inside {
 public:
  Inside() { ++depth(); }
  ~Inside() { --depth(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  static bool now() { return depth() != 0; }

 private:
  static int& depth() {
    static thread_local int count = 0;
    return count;
  }
};

}  // namespace thinwire::nccl

// NCCL's own function, or its error where it has none of this name.
#define THINWIRE_PASS(name, ...)                        \
  ([&]() -> ncclResult_t {                              \
    if (::thinwire::nccl::real().name == nullptr)       \
      return ::thinwire::nccl::not_there("nccl" #name); \
    const ::thinwire::nccl::Inside inside;              \
    return ::thinwire::nccl::real().name(__VA_ARGS__);  \
  }())

#define THINWIRE_EXPORTED extern "C" __attribute__((visibility("default")))
