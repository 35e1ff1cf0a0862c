#include "transport/nccl/library.h"

#include <dlfcn.h>

#include <string>

#include "base/settings.h"

namespace thinwire::transport::nccl {
namespace {

constexpr const char* kFile = "libnccl.so.2";
constexpr int kOldestVersion = 21300;  // 2.13.0
constexpr const char* kAdvice =
    " (pip install nvidia-nccl-cu13, or name libnccl.so.2 in THINWIRE_NCCL)";

void* open_library() {
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;
  // A communicator belongs to the library that made it.
  if (void* present = dlopen(kFile, kFlags | RTLD_NOLOAD)) return present;
  const char* const named = setting_value("THINWIRE_NCCL");
  return dlopen(named != nullptr ? named : kFile, kFlags);
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Library& found) {
  return find(library, "ncclGetVersion", found.get_version) &&
         find(library, "ncclGetErrorString", found.error_string) &&
         find(library, "ncclGetLastError", found.last_error) &&
         find(library, "ncclCommUserRank", found.user_rank) &&
         find(library, "ncclCommCount", found.count) &&
         find(library, "ncclCommGetAsyncError", found.async_error) &&
         find(library, "ncclGroupStart", found.group_start) &&
         find(library, "ncclGroupEnd", found.group_end) && find(library, "ncclSend", found.send) &&
         find(library, "ncclRecv", found.receive);
}

Status missing(const std::string& what) { return {StatusCode::kUnsupported, what + kAdvice}; }

struct Loaded {
  Status status;
  Library functions{};
};

Loaded load() {
  Loaded loaded;
  void* const opened = open_library();
  if (opened == nullptr) {
    loaded.status = missing(std::string("NCCL is not found: ") + dlerror());
    return loaded;
  }
  int version = 0;
  if (!find_all(opened, loaded.functions)) {
    loaded.status = missing("what is found as NCCL lacks functions");
  } else if (loaded.functions.get_version(&version) != ncclSuccess || version < kOldestVersion) {
    loaded.status = missing("NCCL 2.13 is needed, version code " + std::to_string(version) +
                            " is what is found");
  }
  return loaded;
}

}  // namespace

Result<const Library*> library() {
  static const Loaded* const loaded = new Loaded(load());
  if (!loaded->status.ok()) return loaded->status;
  return &loaded->functions;
}

}  // namespace thinwire::transport::nccl
