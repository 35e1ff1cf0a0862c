// Look-ups of the MPI's functions in a handle, as ctypes, Julia and numba make them (decision
// 0068): a function that this library has a wrapper of is answered with that, if what the loader
// finds is the MPI's that the wrapper goes on to.
#include "shim/common/lookups.h"

#include <dlfcn.h>

#include <string>

#include "shim/mpi/native/deep_binding.h"
#include "shim/mpi/native/mpi_symbols.h"
#include "shim/mpi/native/step_aside.h"

namespace thinwire::mpi {

void* own_handle() {
  static void* const handle = [] {
    Dl_info about{};
    dladdr(reinterpret_cast<void*>(&own_handle), &about);
    return dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return handle;
}

// Each wrapper has both names.
void* wrapper_of(const char* name) {
  if (own_handle() == nullptr) return nullptr;
  void* const found = shim::loaders_dlsym(own_handle(), name);
  if (found != nullptr || name[0] == 'P') return found;
  return shim::loaders_dlsym(own_handle(), ("P" + std::string(name)).c_str());
}

namespace {

using shim::Answer;
using shim::kLoaders;
using shim::loaders_dlsym;

// The MPI's name of its inner form, which is the same function.
std::string inner_of(const char* name) { return name[0] == 'P' ? name : std::string("P") + name; }

Answer answer_by_wrapper(void* handle, const char* name) {
  if (handle == RTLD_NEXT) {
    // The loader knows what comes after the caller, and has the wrapper for what is the MPI's.
    show_wrappers_in_mpi();
    return kLoaders;
  }
  void* const wrapper = wrapper_of(name);
  dlerror();  // what was looked for here is no error of the program's
  if (wrapper == nullptr) return kLoaders;
  void* const found = loaders_dlsym(handle, name);
  if (found == nullptr || found == wrapper) return kLoaders;
  void* const below = find_symbol(inner_of(name).c_str());
  const bool is_mpis = found == below || found == find_symbol(name);
  dlerror();
  // The program's MPI is known after it is loaded; what is found may be something else's before.
  if (is_mpis) return {1, wrapper};
  // The function is of another MPI than calls go on to: their handles mean nothing to each other.
  void* const inner = below == nullptr ? nullptr : loaders_dlsym(handle, inner_of(name).c_str());
  if (inner != nullptr && inner != below && inner != wrapper) shim::tell_of_second("MPI", found);
  return kLoaders;
}

}  // namespace
}  // namespace thinwire::mpi

THINWIRE_EARLY bool thinwire::shim::may_be_taken(const char* name) {
  if (mpi::mpi_may_come.load(std::memory_order_relaxed) && !mpi::looks_up_itself) mpi::see_mpi();
  if (mpi::stands_aside()) return false;
  if (mpi::deep_binding_may_be_open.load(std::memory_order_relaxed) && !mpi::looks_up_itself)
    mpi::bind_modules_to_wrappers();  // what is looked up may be a module's, which calls the MPI
  const char* const of_mpi = name[0] == 'P' ? name + 1 : name;
  return of_mpi[0] == 'M' && of_mpi[1] == 'P' && of_mpi[2] == 'I' &&
         (of_mpi[3] == '_' || of_mpi[3] == 'X') && !mpi::looks_up_itself;
}

thinwire::shim::Answer thinwire::shim::answer(void* handle, const char* name) {
  return mpi::answer_by_wrapper(handle, name);
}
