// The timed runs of one operation at one size: the MPI's own and every case in turns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/calls.h"
#include "collective/data.h"
#include "collective/options.h"

namespace thinwire::bench {

// Results of the runs of one case, of all ranks together and the same on each of them.
struct Outcome {
  std::vector<double> seconds;  // of the slowest rank, sorted
  std::int64_t wrong = 0;       // elements, of all runs and ranks
  double max_error = 0;
  bool identical = true;  // where all ranks get the same, they had the same bits
  std::string error;      // why it was not run
  // The report of the last run: bytes and packets are sums over the ranks, the rest is the largest.
  tw_collective_report report{};
};

struct Measurement {
  tw_operation operation;
  std::int64_t bytes;
  std::int64_t count;
  Outcome native;
  std::vector<Outcome> cases;  // as Options::cases()
};

// Throws std::runtime_error if a run fails.
Measurement measure(const Options& options, const Data& data, const Group& group, Nodes& nodes,
                    Communicator& communicator, tw_operation operation, std::int64_t bytes);

}  // namespace thinwire::bench
