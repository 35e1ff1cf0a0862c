// Why nothing is, or was, compressed: one line on standard error a job, at its start or at its end.
#pragma once

#include "shim/common/silence.h"
#include "shim/mpi/observe/report_text.h"

namespace thinwire::mpi {

// Says at the start, by the first rank, what keeps all messages raw, whatever they will be, though
// a codec was asked for.
void explain_all_raw(bool peers_can_be_asked);

using shim::silence_is_explained;

// Says at the end, by rank 0, that nothing was compressed and why, if something was asked for,
// there was something to compress, and no line has told the reason yet. `totals`: this rank's own,
// or those `of_all_ranks`.
void explain_nothing_compressed(const Totals& totals, bool of_all_ranks);

}  // namespace thinwire::mpi
