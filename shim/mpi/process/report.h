// What the shim did, told at MPI_Finalize where THINWIRE_REPORT asks for it.
#pragma once

namespace thinwire::mpi {

// Collective over MPI_COMM_WORLD where every rank's card says that it takes part; rank 0 then
// writes the sums and checks that every compressed message was decoded. Else each rank that was
// asked writes its own figures.
void report();

}  // namespace thinwire::mpi
