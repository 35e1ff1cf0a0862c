// Small messages that wait: for agreement, not for data.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "transport/transport.h"

namespace thinwire::comm {

// Sends to one rank and receives from another at once; blocks until both are complete. The message
// received must be as long as `in`, else kInternal.
Status exchange(transport::Transport& transport, int to, ByteView out, int from,
                MutableByteView in);
Status send(transport::Transport& transport, int to, ByteView out);
Status receive(transport::Transport& transport, int from, MutableByteView in);

// `bytes` of the root come to all ranks; their length is known to all.
Status broadcast(transport::Transport& transport, int root, MutableByteView bytes);

// Every rank's `values` become the sums over all ranks, each at least the exact one: what is
// rounded is rounded up. The same bits on every rank.
Status sum_upwards(transport::Transport& transport, std::span<double> values);

// The numbers of all ranks, in their order; collective.
Status gather_all(transport::Transport& transport, std::uint64_t own,
                  std::vector<std::uint64_t>& all);

// Every rank's `value` becomes the largest of all.
Status largest(transport::Transport& transport, std::uint64_t* value);

}  // namespace thinwire::comm
