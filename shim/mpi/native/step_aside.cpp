#include "shim/mpi/native/step_aside.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "shim/mpi/native/family.h"
#include "shim/mpi/native/loaded_objects.h"
#include "shim/mpi/native/mpi_symbols.h"
#include "shim/mpi/native/unbind.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

std::atomic<bool> mpi_may_come{false};

namespace {

std::atomic<bool> is_aside{false};
std::atomic<void*> other_mpi{nullptr};

// Look-ups go on through here to the next library.
bool is_to_go(const char* name) {
  return std::strcmp(name, "dlsym") != 0 && std::strcmp(name, "dlopen") != 0;
}

// One rank of a job speaks for all; a site may preload a library for each family.
bool is_to_be_told(Family family) {
  const char* rank = family == Family::kOpenMpi ? nullptr : std::getenv("PMI_RANK");
  if (rank == nullptr) rank = std::getenv("PMIX_RANK");
  return (rank == nullptr || std::strcmp(rank, "0") == 0) && !has_preload_for(family);
}

void step_aside(const LoadedMpi& mpi) {
  other_mpi = mpi.handle;
  if (!unbind(is_to_go, symbol_of_other_mpi)) return;  // the first call of the MPI ends the process
  is_aside.store(true, std::memory_order_release);
  const std::string why = "the preloaded library is for " + std::string(name_of(kFamily)) +
                          ", and this program's MPI is " + name_of(mpi.family) + " (" + mpi.path +
                          "): it runs as without the library, all goes raw; preload $(thinwire "
                          "shim mpi --mpi " +
                          option_of(mpi.family) + ") as well";
  tw_log(is_to_be_told(mpi.family) ? TW_LOG_WARNING : TW_LOG_DEBUG, why.c_str());
}

// False if there is none yet.
bool look() {
  const LoadedMpi mpi = first_mpi();
  if (mpi.handle == nullptr) return find_symbol("PMPI_Init") != nullptr;
  if (mpi.family != kFamily) {
    step_aside(mpi);
  } else {
    put_tools_first(mpi.handle);
    dlclose(mpi.handle);
  }
  return true;
}

}  // namespace

bool stands_aside() { return is_aside.load(std::memory_order_acquire); }

void* symbol_of_other_mpi(const char* name) {
  const bool before = std::exchange(looks_up_itself, true);
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) found = dlsym(other_mpi, name);
  looks_up_itself = before;
  return found;
}

void see_mpi() {
  static std::atomic<unsigned long long> in_vain{0};  // what was loaded then
  static std::atomic<bool> is_looking{false};
  if (stands_aside()) return;
  const unsigned long long loaded = times_loaded();
  // Not a lock: who holds the loader's may come here while another thread in here waits for it.
  if (loaded == in_vain || is_looking.exchange(true)) return;
  const bool outer = std::exchange(looks_up_itself, true);
  try {
    mpi_may_come = !look();
    in_vain = loaded;
  } catch (...) {  // no memory: the next look-up tries again
  }
  dlerror();
  looks_up_itself = outer;
  is_looking = false;
}

namespace {

__attribute__((constructor)) void see_mpi_at_load() { see_mpi(); }

}  // namespace

}  // namespace thinwire::mpi
