// One function a row of the table in algorithms.cpp: the steps of topology.rank. Each costs time
// and memory as its steps are many; those of two levels also as the ranks are.
#pragma once

#include "collective/schedule.h"

namespace thinwire::collective {

// In a chain the ranks follow one another from the root on, in a tree as binomial.h says.
Schedule bcast_chain(const Topology& topology);
Schedule bcast_chain_per_hop(const Topology& topology);
Schedule bcast_chain_two_level(const Topology& topology);
Schedule bcast_binomial(const Topology& topology);
Schedule bcast_binomial_per_hop(const Topology& topology);
Schedule bcast_binomial_two_level(const Topology& topology);

// A ring holds few packets at a time; Bruck's and recursive doubling as many as there are ranks.
Schedule allgather_ring(const Topology& topology);
Schedule allgather_ring_per_hop(const Topology& topology);
Schedule allgather_ring_two_level(const Topology& topology);
Schedule allgather_bruck(const Topology& topology);
Schedule allgather_recursive_doubling(const Topology& topology);
Schedule allgather_direct(const Topology& topology);

// Data that one rank alone gets is not coded if it does not travel. Of two levels, blocks go
// down or up a tree by the first rank of each node, which codes for all of its node; or straight
// between the root and each rank, which then codes for itself.
Schedule gather_binomial(const Topology& topology);
Schedule gather_binomial_two_level(const Topology& topology);
Schedule gather_direct(const Topology& topology);
Schedule gather_direct_two_level(const Topology& topology);
Schedule scatter_binomial(const Topology& topology);
Schedule scatter_binomial_per_hop(const Topology& topology);
Schedule scatter_binomial_two_level(const Topology& topology);
Schedule scatter_direct(const Topology& topology);
Schedule scatter_direct_two_level(const Topology& topology);

// Every rank exchanges with each one of the other nodes itself. Leaders that gathered what leaves
// their nodes would send fewer messages, but each value would be copied twice more inside nodes and
// the leaders alone would code: that could pay for small messages, which are not coded anyway.
Schedule alltoall_pairwise(const Topology& topology);
Schedule alltoall_pairwise_two_level(const Topology& topology);

// In rank order each value is the sum of rank 0's and rank 1's, plus rank 2's, and so on; a rank
// holds as many packets as there are others.
Schedule reduce_in_rank_order(const Topology& topology);
Schedule reduce_scatter_in_rank_order(const Topology& topology);
Schedule allreduce_in_rank_order(const Topology& topology);

// Sums are made as soon as all values are there: in as much scratch as there are ranks.
Schedule reduce_exactly(const Topology& topology);
Schedule reduce_scatter_exactly(const Topology& topology);
Schedule allreduce_exactly(const Topology& topology);

Schedule reduce_binomial(const Topology& topology);
Schedule reduce_binomial_two_level(const Topology& topology);
Schedule reduce_direct(const Topology& topology);
Schedule reduce_scatter_ring(const Topology& topology);
Schedule reduce_scatter_ring_two_level(const Topology& topology);
Schedule reduce_scatter_direct(const Topology& topology);

// Recursive doubling leaves the same bits on all ranks only if equal values are encoded to equal
// packets on all of them; the others in any case.
Schedule allreduce_ring(const Topology& topology);
Schedule allreduce_ring_per_hop(const Topology& topology);
Schedule allreduce_ring_two_level(const Topology& topology);
Schedule allreduce_recursive_doubling(const Topology& topology);
Schedule allreduce_direct(const Topology& topology);
Schedule allreduce_direct_two_level(const Topology& topology);

}  // namespace thinwire::collective
