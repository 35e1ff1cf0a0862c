// The rate of the link to other nodes, as this rank has it: stated or the machine's at first, then
// what its connections are seen to deliver.
#pragma once

#include "plan/link.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Once the settings and the ranks of this node are known.
void start_link_rate();

// To a peer there. Looks at the connections where that is due: some microseconds, in one of many
// calls. Any thread.
plan::LinkRate link_rate(tw_peer place);

// The same, looking now.
plan::LinkRate link_rate_now();

}  // namespace thinwire::mpi
