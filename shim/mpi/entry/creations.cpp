// Calls that make communicators, windows and files, which have communicators inside.
#include "shim/mpi/collective/creations.h"
#include "shim/mpi/job/launcher.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/start.h"

using namespace thinwire::mpi;

#define THINWIRE_CREATES(...) THINWIRE_CREATES_EXPANDED(__VA_ARGS__)
#define THINWIRE_CREATES_EXPANDED(name, parameters, arguments)                                  \
  extern "C" int MPI_##name parameters {                                                        \
    static const auto native = reinterpret_cast<int(*) parameters>(native_call("PMPI_" #name)); \
    const Creation creation;                                                                    \
    return native arguments;                                                                    \
  }                                                                                             \
  THINWIRE_ALSO_PMPI(name)

THINWIRE_CREATES(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made));
THINWIRE_CREATES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made),
                 (comm, info, made));
THINWIRE_CREATES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made),
                 (comm, color, key, made));
THINWIRE_CREATES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
                 (comm, type, key, info, made));
THINWIRE_CREATES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made),
                 (comm, group, made));
THINWIRE_CREATES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made),
                 (comm, group, tag, made));
THINWIRE_CREATES(Intercomm_create,
                 (MPI_Comm local, int local_leader, MPI_Comm bridge, int remote_leader, int tag,
                  MPI_Comm* made),
                 (local, local_leader, bridge, remote_leader, tag, made));
THINWIRE_CREATES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* made), (comm, high, made));
THINWIRE_CREATES(Comm_accept,
                 (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
                 (port, info, root, comm, made));
THINWIRE_CREATES(Comm_connect,
                 (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
                 (port, info, root, comm, made));
THINWIRE_CREATES(Comm_join, (int socket, MPI_Comm* made), (socket, made));

THINWIRE_CREATES(Cart_create,
                 (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                  MPI_Comm* made),
                 (comm, ndims, dims, periods, reorder, made));
THINWIRE_CREATES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* made),
                 (comm, remain, made));
THINWIRE_CREATES(Graph_create,
                 (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                  MPI_Comm* made),
                 (comm, nodes, index, edges, reorder, made));
THINWIRE_CREATES(Dist_graph_create,
                 (MPI_Comm comm, int n, const int sources[], const int degrees[],
                  const int destinations[], const int weights[], MPI_Info info, int reorder,
                  MPI_Comm* made),
                 (comm, n, sources, degrees, destinations, weights, info, reorder, made));
THINWIRE_CREATES(Dist_graph_create_adjacent,
                 (MPI_Comm comm, int indegree, const int sources[], const int source_weights[],
                  int outdegree, const int destinations[], const int destination_weights[],
                  MPI_Info info, int reorder, MPI_Comm* made),
                 (comm, indegree, sources, source_weights, outdegree, destinations,
                  destination_weights, info, reorder, made));

THINWIRE_CREATES(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* made),
                 (info, comm, made));
THINWIRE_CREATES(File_open,
                 (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* made),
                 (comm, name, mode, info, made));

// They are under way until their requests complete.
extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  static const auto native =
      reinterpret_cast<decltype(&MPI_Comm_idup)>(native_call("PMPI_Comm_idup"));
  Creation creation;
  const int error = native(comm, made, request);
  if (error == MPI_SUCCESS) creation.goes_on(request);
  return error;
}
THINWIRE_ALSO_PMPI(Comm_idup);

extern "C" int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made,
                                       MPI_Request* request) {
  using Call = int (*)(MPI_Comm, MPI_Info, MPI_Comm*, MPI_Request*);
  static const auto native = reinterpret_cast<Call>(native_call("PMPI_Comm_idup_with_info"));
  Creation creation;
  const int error = native(comm, info, made, request);
  if (error == MPI_SUCCESS) creation.goes_on(request);
  return error;
}
THINWIRE_ALSO_PMPI(Comm_idup_with_info);

// No call of MPI's standard yet (exports.cmake). The MPI asks its launcher who is left.
extern "C" __attribute__((visibility("default"))) int MPIX_Comm_shrink(MPI_Comm comm,
                                                                       MPI_Comm* made) {
  using Call = int (*)(MPI_Comm, MPI_Comm*);
  static const auto native = reinterpret_cast<Call>(native_call("PMPIX_Comm_shrink"));
  learn_of_everybody();
  const Creation creation;
  const LauncherCall call;
  return native(comm, made);
}
extern "C" __attribute__((visibility("default"), alias("MPIX_Comm_shrink"))) int PMPIX_Comm_shrink(
    MPI_Comm comm, MPI_Comm* made);

// The order matters.
// clang-format off
#include "shim/mpi/entry/for_int_counts.h"
#include "shim/mpi/entry/creations.inc"
#include "shim/mpi/entry/for_large_counts.h"
#include "shim/mpi/entry/creations.inc"
// clang-format on
