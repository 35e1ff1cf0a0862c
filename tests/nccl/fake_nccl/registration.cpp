#include "registration.h"

#include <cstdlib>
#include <mutex>
#include <set>

#include "comm.h"
#include "group.h"

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

bool is_sound(const Registered& of, const void* made) {
  return of.memory != nullptr && of.bytes > 0 && made != nullptr;
}

ncclResult_t add(const Registered& of, Registered** made) {
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
  const Registered of{comm, memory, bytes, -1};
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return error;
  return is_sound(of, handle) ? add(of, reinterpret_cast<Registered**>(handle))
                              : ncclInvalidArgument;
}

FAKE_NCCL(CommDeregister, ncclComm_t comm, void* handle) {
  return remove(comm, static_cast<Registered*>(handle));
}

FAKE_NCCL(CommWindowRegister, ncclComm_t comm, void* memory, std::size_t bytes,
          ncclWindow_t* window, int flags) {
  const Registered of{comm, memory, bytes, flags};
  if ((flags & ~NCCL_WIN_COLL_SYMMETRIC) != 0 || !is_sound(of, window)) return ncclInvalidArgument;
  if (const ncclResult_t error = usable_now(comm); error != ncclSuccess) return error;
  *window = nullptr;
  // NCCL gives none where ranks cannot share memory.
  const char* const none = std::getenv("FAKE_NCCL_NO_WINDOWS");
  const bool has = none == nullptr || *none == '\0';
  return submit_making(comm, [=] { return has ? add(of, window) : ncclSuccess; });
}

FAKE_NCCL(CommWindowDeregister, ncclComm_t comm, ncclWindow_t window) {
  return window == nullptr ? ncclSuccess : remove(comm, window);
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
