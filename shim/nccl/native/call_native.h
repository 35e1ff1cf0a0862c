// How every wrapper reaches NCCL.
#pragma once

#include <utility>

#include "native/real.h"
#include "native/refused.h"

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

// Whether NCCL has taken a call: it is done, or goes on by itself.
inline bool is_taken(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

// NCCL's own call, which is made once whatever happens around it.
template <typename Call>
class Native {
 public:
  explicit Native(Call call) : call_(std::move(call)) {}
  ncclResult_t operator()() {
    made_ = true;
    return result_ = call_();
  }
  ncclResult_t once() { return made_ ? result_ : (*this)(); }

 private:
  Call call_;
  bool made_ = false;
  ncclResult_t result_ = ncclSuccess;
};

// A call of the program's: `ours` gets NCCL's own. What this library does around that is left out
// where the system refuses it memory or a thread.
template <typename Call, typename Ours>
ncclResult_t guarded(Call call, Ours ours) noexcept {
  Native<Call> native(std::move(call));
  ncclResult_t result = ncclSuccess;
  return allowed([&] { result = ours(native); }) ? result : native.once();
}

}  // namespace thinwire::nccl

// NCCL's own function, or its error if it has none of this name.
#define THINWIRE_PASS(name, ...)                        \
  ([&]() -> ncclResult_t {                              \
    if (::thinwire::nccl::real().name == nullptr)       \
      return ::thinwire::nccl::not_there("nccl" #name); \
    const ::thinwire::nccl::Inside inside;              \
    return ::thinwire::nccl::real().name(__VA_ARGS__);  \
  }())

// The same, to be called later.
#define THINWIRE_NATIVE(name, ...) \
  [=]() -> ncclResult_t { return THINWIRE_PASS(name, __VA_ARGS__); }

#define THINWIRE_EXPORTED extern "C" __attribute__((visibility("default")))
