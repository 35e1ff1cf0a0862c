/* An MPI as a transport for tw_comm_create(), for programs that bring the two together themselves.
 *
 * This function is no part of the core library: each libthinwire_mpi_*.so exports it, for the
 * MPIs of its name. Load the library at run time, without preloading it, after the MPI and with
 * RTLD_LOCAL: it then changes no call of the program's. Preloaded libraries have the function too.
 *
 *   void* library = dlopen("libthinwire_mpi_openmpi4.so", RTLD_NOW | RTLD_LOCAL);
 *   tw_status (*mpi_transport)(const void*, tw_transport*) = NULL;
 *   if (library != NULL) *(void**)&mpi_transport = dlsym(library, "tw_mpi_transport");
 *
 *   tw_transport transport = {.size = sizeof transport};
 *   MPI_Comm world = MPI_COMM_WORLD;
 *   if (mpi_transport != NULL && mpi_transport(&world, &transport) == TW_OK) ...tw_comm_create()
 *
 * For this use any library of the MPI's family serves: ..._openmpi4.so with Open MPI 4 and 5,
 * ..._mpich3.so with MPICH and the MPIs of its ABI, ..._abi.so with programs of MPI 5's standard
 * ABI. They are installed beside libthinwire.so; where that is no folder of the loader's, give
 * dlopen() the path. Leave the library loaded as long as a transport of it is in use.
 */
#ifndef THINWIRE_THINWIRE_MPI_H
#define THINWIRE_THINWIRE_MPI_H

#include "thinwire/thinwire.h"

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* BEGIN declarations */

/* Fills `transport`, but for its `idle`, which is NULL, with the MPI's messages on a private
 * communicator of the processes of the MPI_Comm at address `comm`, in their order. Set
 * transport->size before.
 *
 * Collective over that communicator, which must be an intracommunicator; it is not kept, and may be
 * freed. The MPI must have been initialised. Errors are returned, never raised on the program's
 * communicator: TW_INVALID_ARGUMENT for a null pointer or an intercommunicator, TW_UNSUPPORTED
 * where the MPI is not running or has no communicator left. The library has a core of its own, so
 * tw_last_error() of the libthinwire that your program links does not have them; each is one line
 * in the log.
 *
 * `release`, which tw_comm_destroy() calls, frees the private communicator where the MPI has not
 * been finalised yet: every rank should destroy its communicators in the same order. */
tw_status tw_mpi_transport(const void* comm, tw_transport* transport);

/* END declarations */

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* THINWIRE_THINWIRE_MPI_H */
