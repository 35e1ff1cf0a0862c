#include "abi/real.h"

#include <dlfcn.h>

#include <mutex>
#include <set>
#include <string>

#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

constexpr const char* kSoname = "libnccl.so.2";

Real resolve() {
  Real found;
#define THINWIRE_NCCL_CALL(name) \
  found.name = reinterpret_cast<decltype(found.name)>(find("pnccl" #name));
  THINWIRE_NCCL_CALLS(THINWIRE_NCCL_CALL)
#undef THINWIRE_NCCL_CALL
  if (found.GetVersion == nullptr) {
    tw_log(TW_LOG_ERROR, (std::string("this program calls NCCL, and no ") + kSoname +
                          " is loaded that the preloaded library could find")
                             .c_str());
  }
  return found;
}

}  // namespace

// Where the loader would have looked for the program; then the library that a module has brought in
// for itself alone (RTLD_LOCAL, as Python's do), where RTLD_NEXT does not look.
void* find(const char* name) {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  static void* const local = dlopen(kSoname, RTLD_LAZY | RTLD_NOLOAD);
  return local == nullptr ? nullptr : dlsym(local, name);
}

const Real& real() {
  static const Real found = resolve();
  return found;
}

ncclResult_t not_there(const char* name) {
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (said->insert(name).second) {
    tw_log(TW_LOG_ERROR, (std::string("the NCCL of this program has no ") + name).c_str());
  }
  return ncclInvalidUsage;
}

}  // namespace thinwire::nccl
