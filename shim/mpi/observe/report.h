// The report of what the shim did, told at the end if THINWIRE_REPORT asks for it.
#pragma once

#include "shim/mpi/observe/report_text.h"

namespace thinwire::mpi {

// Totals that this rank alone has counted so far.
Totals own_totals();

// Asks who takes part, as later that may not be possible.
void learn_who_reports();

// MPI has started, perhaps not for the first time.
void expect_report();

// Once between MPI's start and its end. Collective over MPI_COMM_WORLD, if there is one and
// every rank's capabilities say that it takes part; rank 0 then writes the sums and checks that
// every compressed message was decoded. Else each rank that was asked writes its own figures.
void report(bool has_comm_world);

}  // namespace thinwire::mpi
