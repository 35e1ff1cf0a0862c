// The words of the shim about itself: the report of what it did, at the end if THINWIRE_REPORT asks
// for it, and why nothing is, or was, compressed: one line on standard error a job.
#pragma once

#include "shim/common/silence.h"
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

// Says at the start, by the first rank, what keeps all messages raw, whatever they will be, though
// a codec was asked for.
void explain_all_raw(bool peers_can_be_asked);

using shim::silence_is_explained;

// Says at the end, by rank 0, that nothing was compressed and why, if something was asked for,
// there was something to compress, and no line has told the reason yet. `totals`: this rank's own,
// or those `of_all_ranks`.
void explain_nothing_compressed(const Totals& totals, bool of_all_ranks);

}  // namespace thinwire::mpi
