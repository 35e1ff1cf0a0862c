// Calls that bring processes and groups together, in which the MPI may speak with its launcher.
// Their peers are no ranks of this job's world, unless proven otherwise: they get raw messages.
#include "shim/mpi/collective/creations.h"
#include "shim/mpi/job/launcher.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/start.h"

using namespace thinwire::mpi;

#define THINWIRE_WITH_LAUNCHER(name, parameters, arguments) \
  THINWIRE_WITH_LAUNCHER_AFTER(static_cast<void>(0), name, parameters, arguments)
#define THINWIRE_CREATES_WITH_LAUNCHER(name, parameters, arguments) \
  THINWIRE_WITH_LAUNCHER_AFTER(const Creation creation, name, parameters, arguments)
#define THINWIRE_WITH_LAUNCHER_AFTER(beginning, name, parameters, arguments)                    \
  extern "C" int MPI_##name parameters {                                                        \
    static const auto native = reinterpret_cast<int(*) parameters>(native_call("PMPI_" #name)); \
    learn_of_everybody();                                                                       \
    beginning;                                                                                  \
    const LauncherCall call;                                                                    \
    return native arguments;                                                                    \
  }                                                                                             \
  THINWIRE_ALSO_PMPI(name)

THINWIRE_CREATES_WITH_LAUNCHER(Comm_spawn,
                               (const char* command, char* argv[], int maxprocs, MPI_Info info,
                                int root, MPI_Comm comm, MPI_Comm* intercomm, int errcodes[]),
                               (command, argv, maxprocs, info, root, comm, intercomm, errcodes));
THINWIRE_CREATES_WITH_LAUNCHER(Comm_spawn_multiple,
                               (int count, char* commands[], char** argvs[], const int maxprocs[],
                                const MPI_Info infos[], int root, MPI_Comm comm,
                                MPI_Comm* intercomm, int errcodes[]),
                               (count, commands, argvs, maxprocs, infos, root, comm, intercomm,
                                errcodes));
THINWIRE_WITH_LAUNCHER(Publish_name, (const char* service, MPI_Info info, const char* port),
                       (service, info, port));
THINWIRE_WITH_LAUNCHER(Unpublish_name, (const char* service, MPI_Info info, const char* port),
                       (service, info, port));
THINWIRE_WITH_LAUNCHER(Lookup_name, (const char* service, MPI_Info info, char* port),
                       (service, info, port));
THINWIRE_CREATES_WITH_LAUNCHER(Comm_create_from_group,
                               (MPI_Group group, const char* tag, MPI_Info info,
                                MPI_Errhandler handler, MPI_Comm* comm),
                               (group, tag, info, handler, comm));
THINWIRE_CREATES_WITH_LAUNCHER(Intercomm_create_from_groups,
                               (MPI_Group local, int local_leader, MPI_Group remote,
                                int remote_leader, const char* tag, MPI_Info info,
                                MPI_Errhandler handler, MPI_Comm* comm),
                               (local, local_leader, remote, remote_leader, tag, info, handler,
                                comm));

// Only the size of the universe is the launcher's to say.
#define THINWIRE_ATTRIBUTE(name)                                                           \
  extern "C" int MPI_##name(MPI_Comm comm, int keyval, void* value, int* found) {          \
    static const auto native =                                                             \
        reinterpret_cast<int (*)(MPI_Comm, int, void*, int*)>(native_call("PMPI_" #name)); \
    if (keyval != MPI_UNIVERSE_SIZE) return native(comm, keyval, value, found);            \
    learn_of_everybody();                                                                  \
    const LauncherCall call;                                                               \
    return native(comm, keyval, value, found);                                             \
  }                                                                                        \
  THINWIRE_ALSO_PMPI(name)

THINWIRE_ATTRIBUTE(Comm_get_attr);
// Deprecated since MPI 2, and still called.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
THINWIRE_ATTRIBUTE(Attr_get);
#pragma GCC diagnostic pop
