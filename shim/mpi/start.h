// Start and end of the library: what is done around the first call that starts the MPI and the last
// that ends it.
#pragma once

namespace thinwire::mpi {

// Around the first MPI_Init or MPI_Session_init of the process: before the MPI's own, and after.
void before_start();
void after_start(bool by_session);

// Asks the launcher, after a start with MPI_THREAD_MULTIPLE, about all ranks: to be called before a
// call in which the MPI speaks with it (job/launcher.h). Such a call may wait for what other
// threads do in collectives, who cannot ask meanwhile. Returns after all is known, also if another
// thread asks; a second time it costs nothing.
void learn_of_everybody();

// Before MPI_Finalize where sessions go on: what belongs to MPI_COMM_WORLD is let go.
void before_world_ends();

// Before the last MPI_Finalize or MPI_Session_finalize. `has_comm_world`: there is one yet.
void before_end(bool has_comm_world);

}  // namespace thinwire::mpi
