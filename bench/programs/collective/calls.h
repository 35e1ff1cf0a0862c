// The calls that are timed: of the library's communicator over MPI_COMM_WORLD, and the MPI's own.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collective/data.h"
#include "collective/options.h"
#include "thinwire/thinwire.h"

namespace thinwire::bench {

// Throws std::runtime_error with the library's sentence if a call fails.
class Codec {
 public:
  explicit Codec(const std::string& spec);
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  ~Codec() { tw_codec_destroy(codec_); }

  const tw_codec* get() const { return codec_; }
  bool is_lossless() const;

 private:
  tw_codec* codec_ = nullptr;
};

class Communicator {
 public:
  // Collective; `nodes` are those of the ranks if they are not apart. Throws std::runtime_error.
  Communicator(const Options& options, const std::vector<std::int32_t>& nodes);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { tw_comm_destroy(comm_); }

  // Empty if the call can be run, else why not: the same on every rank, as nothing is sent.
  std::string refusal(const tw_collective& call) const;

  // Throws std::runtime_error.
  tw_collective_report run(const tw_collective& call);

 private:
  tw_comm* comm_ = nullptr;
};

// One case's call of an operation, its buffers aside.
tw_collective make_call(const Options& options, tw_operation operation, const Case& one,
                        const Codec& codec, std::int64_t count);

// The MPI's own collective of MPI_COMM_WORLD; sums if it reduces.
void run_native(tw_operation operation, tw_dtype dtype, const Group& group, std::int64_t count,
                const void* send, void* receive);

// Which ranks share a node, and the untimed traffic between nodes.
class Nodes {
 public:
  // Collective, as the rest. `filler` is in bytes.
  explicit Nodes(std::int64_t filler);
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes();

  // The node of each rank, numbered by the least rank there.
  const std::vector<std::int32_t>& of_ranks() const { return of_ranks_; }
  int count() const { return count_; }
  int local_rank() const { return local_rank_; }

  // Empties what a pause has filled up on every link in both directions: one rank a node sends the
  // filler to the next node. When it returns, nothing is under way and all ranks are ready.
  void fill();

 private:
  std::vector<std::int32_t> of_ranks_;
  std::vector<char> sent_;
  std::vector<char> received_;
  MPI_Comm leaders_ = MPI_COMM_NULL;  // one rank a node; null elsewhere
  int local_rank_ = 0;
  int count_ = 1;
};

}  // namespace thinwire::bench
