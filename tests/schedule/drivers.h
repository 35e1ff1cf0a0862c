// One collective of floats, run by either driver with ranks in threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collective.h"
#include "collective/cutting.h"
#include "collective/polled/execute.h"

namespace thinwire::collective::testing {

struct Call {
  Row row;
  Topology topology;
  std::string spec;
  Reduction reduction = Reduction::kSum;
  std::uint64_t piece_bytes = 2048;
  std::uint32_t window = 2;
  bool in_place = false;

  // What a rank has in a block before, besides what all have.
  std::function<void(int rank, std::uint32_t meaning, std::vector<float>& values)> change = {};
};

// What each rank holds afterwards: its blocks, and what it was told.
struct Held {
  std::vector<std::vector<float>> input, output;
  Status status;
  std::uint64_t wire_bytes = 0;
};

// One rank's way through a call.
struct Part {
  const Call& call;
  int rank;
  const EngineSettings& settings;
  const Schedule& schedule;
  const std::vector<Block>& blocks;
  const Program& program;
  Arrays arrays;
};

using Driver = std::function<void(const Part& part, Held& held)>;

std::vector<Held> run_ranks(const Call& call, const Driver& driver);

// Host-polled, over the local transport; enqueued, over groups.
std::vector<Held> run_polled(const Call& call);
std::vector<Held> run_enqueued(const Call& call);

}  // namespace thinwire::collective::testing
