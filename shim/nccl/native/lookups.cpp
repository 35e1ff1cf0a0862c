// Look-ups of NCCL's functions in a handle (decision 0041): a function that this library takes is
// answered with its wrapper, if what the loader finds is the very function that the wrapper goes on
// to.
#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "native/not_taken.h"
#include "native/real.h"
#include "native/taken.h"
#include "shim/common/lookups.h"

namespace thinwire::nccl {
namespace {

using shim::Answer;
using shim::kLoaders;
using shim::loaders_dlsym;

struct Taken {
  std::string_view name;
  void* wrapper;
  void* (*below)();  // NCCL's own
};

const Taken kTaken[] = {
#define THINWIRE_NCCL_CALL(function)                           \
  {"nccl" #function, reinterpret_cast<void*>(&nccl##function), \
   [] { return reinterpret_cast<void*>(real().function); }},
#define THINWIRE_NCCL_COLLECTIVE(function, ...) \
  THINWIRE_NCCL_CALL(function) THINWIRE_NCCL_CALL(function##Config)
    THINWIRE_NCCL_TAKEN(THINWIRE_NCCL_CALL) THINWIRE_NCCL_COLLECTIVES(THINWIRE_NCCL_COLLECTIVE)
#undef THINWIRE_NCCL_COLLECTIVE
#undef THINWIRE_NCCL_CALL
};

Answer answer_by_taken(void* handle, const char* name) {
  if (handle == RTLD_NEXT) return kLoaders;
  const auto* const taken =
      std::find_if(std::begin(kTaken), std::end(kTaken),
                   [name = std::string_view(name)](const Taken& of) { return of.name == name; });
  if (taken == std::end(kTaken)) {
    note_lookup(name);
    return kLoaders;
  }
  void* const found = loaders_dlsym(handle, name);
  const std::string inner = std::string("p") + name;
  if (found == taken->wrapper) {
    // By the search of a linked program, which is to see no function that its NCCL lacks; an error
    // names the inner one then.
    if (find(inner.c_str()) != nullptr) return kLoaders;
    return {1, loaders_dlsym(handle, inner.c_str())};
  }
  const bool is_own = found != nullptr && handle != RTLD_DEFAULT;
  // The process's first call decides which NCCL it has; before it there is none.
  if (!is_own || find("pncclGetVersion") == nullptr) return kLoaders;
  if (found == taken->below()) {
    dlerror();  // what was looked for here is no error of the program's
    return {1, taken->wrapper};
  }
  // The function is of another NCCL than calls go on to.
  if (loaders_dlsym(handle, inner.c_str()) == found) shim::tell_of_second("NCCL", found);
  return kLoaders;
}

}  // namespace
}  // namespace thinwire::nccl

THINWIRE_EARLY bool thinwire::shim::may_be_taken(const char* name) {
  return name[0] == 'n' && name[1] == 'c' && name[2] == 'c' && name[3] == 'l';
}

thinwire::shim::Answer thinwire::shim::answer(void* handle, const char* name) {
  return nccl::answer_by_taken(handle, name);
}
