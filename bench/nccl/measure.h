// The timed turns of one operation at one size: every way by turns, verified.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nccl/turns.h"

namespace thinwire::bench::nccl {

// Results of the turns of one way, of all ranks together and the same on each of them.
struct Outcome {
  Way way;
  std::vector<double> seconds, host_seconds;  // of the slowest rank, sorted, a call
  std::int64_t wrong = 0;                     // elements, of all turns and ranks
  double max_error = 0, relative_error = 0;   // the second over the array, by squares
  bool identical = true;  // where all ranks get the same, they had the same bits
  // Counts of the timed turns, by the preload library: sums over the ranks.
  Counts counts;
  int warm_up_calls = 0;
  std::string why_raw;  // why calls are not coded after all warm-up; empty if they are
};

struct Measurement {
  Operation operation;
  std::int64_t bytes, count;
  std::string presence;
  std::vector<Outcome> ways;
};

// Throws std::runtime_error if a run fails.
Measurement measure(const Job& job, Operation operation, std::int64_t bytes);

}  // namespace thinwire::bench::nccl
