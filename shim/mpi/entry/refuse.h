// Calls that GPU memory cannot be handed to where the MPI does not reach it: an error instead of a
// crash inside the MPI.
#pragma once

#include <initializer_list>
#include <string>

#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

inline bool any_out_of_reach(std::initializer_list<const void*> buffers) {
  if (!shim_is_active()) return false;
  for (const void* buffer : buffers) {
    if (buffer != nullptr && buffer != MPI_IN_PLACE && tw_on_device(buffer) != 0) {
      return !process().gpu_aware;
    }
  }
  return false;
}

inline int raise_on_comm(MPI_Comm comm) {
  real().Comm_call_errhandler(comm, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

inline int raise_on_window(MPI_Win window) {
  real().Win_call_errhandler(window, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

inline int raise_on_file(MPI_File file) {
  real().File_call_errhandler(file, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

inline void explain_refusal(const char* name) {
  tw_log(TW_LOG_ERROR, ("rank " + std::to_string(process().world.rank) + ": GPU memory in " + name +
                        " needs a GPU-aware MPI")
                           .c_str());
}

}  // namespace thinwire::mpi

// A refused call tries nothing before.
#define THINWIRE_TRY_NOTHING

// MPI_<name> with these parameters; `raised` is where its error goes, the rest are its buffers.
// Such calls are in no table of native/real.h: each finds the MPI's own at its first use.
#define THINWIRE_REFUSE(name, parameters, arguments, raised, ...) \
  THINWIRE_TRY_OR_REFUSE(name, parameters, THINWIRE_TRY_NOTHING, arguments, raised, __VA_ARGS__)

// The same with a statement before, which may leave the call.
#define THINWIRE_TRY_OR_REFUSE(...) THINWIRE_TRY_OR_REFUSE_EXPANDED(__VA_ARGS__)
#define THINWIRE_TRY_OR_REFUSE_EXPANDED(name, parameters, attempt, arguments, raised, ...)      \
  extern "C" int MPI_##name parameters {                                                        \
    using namespace thinwire::mpi;                                                              \
    attempt;                                                                                    \
    static const auto native = reinterpret_cast<int(*) parameters>(native_call("PMPI_" #name)); \
    if (any_out_of_reach({__VA_ARGS__})) [[unlikely]] {                                         \
      explain_refusal("MPI_" #name);                                                            \
      return raised;                                                                            \
    }                                                                                           \
    return native arguments;                                                                    \
  }                                                                                             \
  THINWIRE_ALSO_PMPI(name)
