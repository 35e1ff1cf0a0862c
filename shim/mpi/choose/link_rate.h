// The rate of the link to other nodes, as this rank has it: stated or the machine's at first, then
// what its connections are seen to deliver.
#pragma once

#include "choose/link.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Starts measuring the rate. Called after the settings and the ranks of this node are known.
void start_link_rate();

// The link's rate to a peer at that distance. In one of many calls it looks at the connections,
// which takes some microseconds. Any thread.
choose::LinkRate link_rate(tw_peer place);

// The same, looking now. For collectives.
choose::LinkRate link_rate_now();

// The rate by which the report tells what raw messages would have taken: the fastest of link_rate()
// and of what raw ones were measured at. Compressed messages make the link look slower, as the
// receiver decodes before it answers. Any thread.
double rate_of_raw(tw_peer place);

// A message of the threshold or more leaves, as so many bytes. What connections deliver is compared
// with it: those that carry no messages tell nothing. Any thread.
void note_sent(tw_peer place, std::uint64_t bytes, bool is_raw);

// The bytes that a connection has on its way, of that which has most of them; 0 to peers of this
// node. Looks as seldom as link_rate(), else says what was found last. Any thread.
std::uint64_t bytes_under_way(tw_peer place);

// A large collective between nodes begins; its bytes are not known.
void note_collective();

}  // namespace thinwire::mpi
