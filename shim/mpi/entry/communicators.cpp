// The ends of communicators, which receives may outlive, and their names.
#include "shim/mpi/collective/communicators.h"
#include "shim/mpi/choose/ending.h"
#include "shim/mpi/message/error_target.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/trace.h"
#include "shim/mpi/state/fast_path.h"

using namespace thinwire::mpi;

namespace {

// `call` is the MPI's own.
int end(MPI_Comm* comm, int (*call)(MPI_Comm*)) {
  if (!shim_is_active() || comm == nullptr || *comm == MPI_COMM_NULL) return call(comm);
  Ending ending(*comm);
  take_collectives_along(ending);
  forget_communicator(*comm);
  const int error = call(comm);
  ending.has_ended = error == MPI_SUCCESS;
  end_collectives_of(ending);
  forget_traced_names();
  return error;
}

}  // namespace

extern "C" int MPI_Comm_free(MPI_Comm* comm) { return end(comm, real().Comm_free); }
THINWIRE_ALSO_PMPI(Comm_free);

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) { return end(comm, real().Comm_disconnect); }
THINWIRE_ALSO_PMPI(Comm_disconnect);

extern "C" int MPI_Comm_set_name(MPI_Comm comm, const char* name) {
  const int error = real().Comm_set_name(comm, name);
  forget_traced_names();
  return error;
}
THINWIRE_ALSO_PMPI(Comm_set_name);

// No call of MPI's standard yet; Open MPI 5 and MPICH have it (exports.cmake).
extern "C" __attribute__((visibility("default"))) int MPIX_Comm_revoke(MPI_Comm comm) {
  using Revoke = int (*)(MPI_Comm);
  static const auto revoke = reinterpret_cast<Revoke>(find_symbol("PMPIX_Comm_revoke"));
  if (revoke == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
  const int error = revoke(comm);
  if (error == MPI_SUCCESS && shim_is_active()) revoke_collectives_of(comm, revoke);
  return error;
}
extern "C" __attribute__((visibility("default"), alias("MPIX_Comm_revoke"))) int PMPIX_Comm_revoke(
    MPI_Comm comm);
