#include "native/real.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "thinwire/thinwire.h"

namespace thinwire::nccl {
namespace {

constexpr const char* kSoname = "libnccl.so.2";

// A module that has NCCL linked into itself and shows it to nobody else, as some builds of PyTorch
// are: its calls of NCCL came here all the same.
void* module_with_nccl() {
  std::vector<std::string> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* names) {
        static_cast<std::vector<std::string>*>(names)->emplace_back(info->dlpi_name);
        return 0;
      },
      &loaded);
  for (const std::string& name : loaded) {
    void* const module = name.empty() ? nullptr : dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (module == nullptr) continue;
    if (dlsym(module, "pncclGetVersion") != nullptr) return module;
    dlclose(module);
  }
  return nullptr;
}

Real resolve() {
  Real found;
#define THINWIRE_NCCL_CALL(name) \
  found.name = reinterpret_cast<decltype(found.name)>(find("pnccl" #name));
#define THINWIRE_NCCL_COLLECTIVE(name, ...) \
  THINWIRE_NCCL_CALL(name) THINWIRE_NCCL_CALL(name##Config)
  THINWIRE_NCCL_CALLS(THINWIRE_NCCL_CALL)
  THINWIRE_NCCL_COLLECTIVES(THINWIRE_NCCL_COLLECTIVE)
#undef THINWIRE_NCCL_COLLECTIVE
#undef THINWIRE_NCCL_CALL
  if (found.GetVersion == nullptr) {
    tw_log(TW_LOG_ERROR, (std::string("this program calls NCCL, and no ") + kSoname +
                          " is loaded that the preloaded library could find")
                             .c_str());
  }
  return found;
}

}  // namespace

// Looks where the loader would have looked for the program; then in the library that a module has
// brought in for itself alone (RTLD_LOCAL, as Python's do), where RTLD_NEXT does not look; then
// such a module.
void* find(const char* name) {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  // Not remembered if there is none yet: programs ask before they load one.
  static std::atomic<void*> local{nullptr};
  if (local == nullptr) {
    void* const library = dlopen(kSoname, RTLD_LAZY | RTLD_NOLOAD);
    local = library != nullptr ? library : module_with_nccl();
  }
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
