// The table of symbols of the MPI's library, as the loader has it in memory: after its functions
// are the wrappers there, whatever searches the MPI's library before this one finds them.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

namespace thinwire::mpi {

// Symbols of the MPI underneath, for files that need no mpi.h.

// An address inside the loaded MPI or what it links, or nullptr. The MPI's own, if its library
// shows a wrapper instead.
void* find_symbol(const char* name);

// After the MPI's library shows wrappers (native/mpi_symbols.h): its own function if `found`, which
// the loader has for `name`, is the wrapper; else `found`.
using OwnOfMpi = void* (*)(const char* name, void* found);
extern std::atomic<OwnOfMpi> own_of_mpi;

// The MPI's description of itself, before it has started, too; empty if it gives none.
inline std::string library_version() {
  using Query = int (*)(char*, int*);
  constexpr std::size_t kLongest = 8192;  // of any MPI
  const auto query = reinterpret_cast<Query>(find_symbol("PMPI_Get_library_version"));
  std::string version(kLongest, '\0');
  int length = 0;
  if (query == nullptr || query(version.data(), &length) != 0) return {};
  version.resize(version.find('\0'));
  return version;
}

// This library, in which every function of MPI is a wrapper.
void* own_handle();

// The wrapper of a name, also if the loader does not find it by that (native/unbind.h); nullptr if
// there is none.
void* wrapper_of(const char* name);

// True in the thread that is in there: its look-ups are not answered with wrappers.
extern thread_local bool looks_up_itself;

// Makes the functions of the MPI that calls go on to be found as the wrappers from now on: by
// modules that are opened with RTLD_DEEPBIND, in their constructors too, by what they look up or
// open themselves, and by RTLD_NEXT. False if no MPI is loaded, or memory cannot be had or written.
// What another library between this one and the MPI has of the same names stays.
bool show_wrappers_in_mpi();

}  // namespace thinwire::mpi
