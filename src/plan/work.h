// The cost model's numbers: what each way of doing a collective needs of links and processors.
#pragma once

#include <cstdint>

#include "plan/operation.h"
#include "plan/plan.h"

namespace thinwire::plan {

// One row of the table of schedules.
struct Way {
  Operation operation;
  Algorithm algorithm;
  Coding coding;

  friend constexpr bool operator==(const Way&, const Way&) = default;
};

// Ranks lie on nodes in order and in near equal numbers, as launchers put them.
struct Spread {
  int ranks = 1;
  int nodes = 1;
  // Into so many parts an array of Allreduce can be cut; 0: into as many as there are ranks. Small
  // arrays have fewer boxes of the codec's chunks.
  int parts = 0;
};

// The work of an operation in units of the whole array: what Bcast carries, Allgather leaves on a
// rank, Gather and Scatter have at the root, Alltoall sends from a rank, and each rank contributes
// to a reduction.
struct Work {
  double wire = 0;    // over the busiest link, one way
  double encode = 0;  // by the busiest rank
  double decode = 0;
  double block = 1;   // what is cut into pieces
  double rounds = 1;  // messages that follow one another at the busiest rank, pieces aside
  double stages = 1;  // that a piece passes one after another
  double inside = 0;  // through a node's memory
  bool codes_at_stages = false;
};

// A way without a model of its own counts as one if every rank sends all it has to each other.
Work work_of(const Way& way, const Spread& spread);

struct Speeds {
  double link_bytes_per_second = 0;
  CodecCost codec;  // infinite speeds and ratio 1: values as they are
};

// Bytes of a piece of `way`: so small that some are under way at once at every stage, so large that
// the fixed cost of a message and of a coding counts little.
std::uint64_t piece_bytes_of(const Work& work, double bytes, const Speeds& speeds);

// The cost model, for an array of `bytes` in pieces of `piece`:
//   max(transfer, codec) + a tenth of the other + fill
//   transfer = wire * bytes / (ratio * link) + messages * kMessageSeconds
//   codec    = encode * bytes / E + decode * bytes / D + codings * kCodingSeconds
//   fill     = one piece through the stages: encode, stages * transfer, decode
// and what passes through the memory of nodes on top. Transfer and codec overlap, because pieces
// travel while others are coded.
double seconds_of(const Work& work, double bytes, double piece, const Speeds& speeds);

}  // namespace thinwire::plan
