#include "registration.h"

#include <cstdlib>
#include <mutex>
#include <set>

#include "comm.h"
#include "entry.h"

namespace fake_nccl {
namespace {

// Handles that the program has, by address.
class Owned {
 public:
  void add(void* one) {
    const std::lock_guard lock(mutex_);
    all_.insert(one);
  }
  bool remove(void* one) {
    const std::lock_guard lock(mutex_);
    return all_.erase(one) == 1;
  }

 private:
  std::mutex mutex_;
  std::set<void*> all_;
};

Owned g_registered, g_memory;

ncclResult_t add(const Registered& of, Registered** made) {
  if (const ncclResult_t error = usable(of.comm); error != ncclSuccess) return error;
  if (of.memory == nullptr || of.bytes == 0 || made == nullptr) return ncclInvalidArgument;
  *made = new Registered(of);
  g_registered.add(*made);
  return ncclSuccess;
}

ncclResult_t remove(ncclComm_t comm, Registered* one) {
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return error;
  if (!g_registered.remove(one)) return ncclInvalidArgument;
  const bool is_its = one->comm == comm;
  delete one;
  return is_its ? ncclSuccess : ncclInvalidArgument;
}

}  // namespace

FAKE_NCCL(CommRegister, ncclComm_t comm, void* memory, std::size_t bytes, void** handle) {
  return add({comm, memory, bytes, -1}, reinterpret_cast<Registered**>(handle));
}

FAKE_NCCL(CommDeregister, ncclComm_t comm, void* handle) {
  return remove(comm, static_cast<Registered*>(handle));
}

FAKE_NCCL(CommWindowRegister, ncclComm_t comm, void* memory, std::size_t bytes,
          ncclWindow_t* window, int flags) {
  if ((flags & ~NCCL_WIN_COLL_SYMMETRIC) != 0) return ncclInvalidArgument;
  return add({comm, memory, bytes, flags}, window);
}

FAKE_NCCL(CommWindowDeregister, ncclComm_t comm, ncclWindow_t window) {
  return remove(comm, window);
}

FAKE_NCCL(MemAlloc, void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  if (*memory == nullptr) return ncclSystemError;
  g_memory.add(*memory);
  return ncclSuccess;
}

FAKE_NCCL(MemFree, void* memory) {
  if (!g_memory.remove(memory)) return ncclInvalidArgument;
  std::free(memory);
  return ncclSuccess;
}

}  // namespace fake_nccl
