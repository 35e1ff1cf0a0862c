#include "abi/real.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

Objects objects;

namespace detail {
Real table;
std::atomic<bool> resolved{false};
}  // namespace detail

namespace {

constexpr const char* kSoname = "libmpi.so.40";

// Python's MPI modules load the MPI with RTLD_LOCAL, where RTLD_NEXT does not look.
void* loaded_mpi() {
  static void* const handle = dlopen(kSoname, RTLD_LAZY | RTLD_NOLOAD);
  return handle;
}

// Unlike a function, an object of the MPI may have been copied into the program itself, which
// then is the place that the MPI uses too.
void* find_object(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  return loaded_mpi() == nullptr ? nullptr : dlsym(loaded_mpi(), name);
}

template <typename Pointer>
void find_call(Pointer& slot, const char* name) {
  slot = reinterpret_cast<Pointer>(find_symbol(name));
  if (slot != nullptr) return;
  tw_log(TW_LOG_ERROR,
         (std::string("no ") + name + " in this MPI; the preloaded library is for " + kSoname)
             .c_str());
  std::abort();
}

}  // namespace

void* find_symbol(const char* name) {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  return loaded_mpi() == nullptr ? nullptr : dlsym(loaded_mpi(), name);
}

void detail::resolve() {
  static std::once_flag once;
  std::call_once(once, [] {
#define THINWIRE_FIND_CALL(name) find_call(table.name, "PMPI_" #name);
    THINWIRE_WRAPPED_CALLS(THINWIRE_FIND_CALL)
    THINWIRE_HELPER_CALLS(THINWIRE_FIND_CALL)
#undef THINWIRE_FIND_CALL
#define THINWIRE_FIND_IF_THERE(name) \
  table.name = reinterpret_cast<decltype(table.name)>(find_symbol("PMPI_" #name));
    THINWIRE_REFUSED_CALLS(THINWIRE_FIND_IF_THERE)
#undef THINWIRE_FIND_IF_THERE
#define THINWIRE_FIND_OBJECT(name) objects.name = find_object(#name);
    THINWIRE_MPI_OBJECTS(THINWIRE_FIND_OBJECT)
#undef THINWIRE_FIND_OBJECT
    resolved.store(true, std::memory_order_release);
  });
}

}  // namespace thinwire::mpi
