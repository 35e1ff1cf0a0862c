// A collective as the prover takes it: the schedules of all ranks, and what they are to achieve.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/algorithms.h"

namespace thinwire::collective::testing {

struct Collective {
  Operation operation = Operation::kBcast;
  int size = 1;
  int root = 0;

  // Input and output of a block are the same memory.
  bool in_place = false;

  // How often the steps are done over again, each time for other values, in the same slots and
  // scratch: as the executor does for windows of pieces.
  int windows = 1;

  // Some blocks have no values; their steps do not happen.
  bool some_empty = false;

  // Every rank posts its messages in the order of its steps, to whomever they go.
  bool posted_in_order = false;

  // Equal values are encoded to equal packets, on all ranks. Else each encoding is its own.
  bool equal_packets = false;

  // All ranks that get something must end with the same bits.
  bool identical = false;

  // True if the root of a Bcast gets something too; else its values must stay untouched.
  bool root_decodes = false;

  std::vector<Schedule> ranks;
};

// Takes no notice of the topology's rank.
Collective collective_of(const Row& row, const Topology& topology);

// One number for a block on all ranks, whatever their schedules call it.
std::uint32_t meaning(const Collective& collective, int rank, std::uint32_t block);

// Whether a rank has the user's values of a block at all.
bool has_input(const Collective& collective, int rank, std::uint32_t block);
bool has_output(const Collective& collective, int rank, std::uint32_t block);

// The root of a Bcast that decodes nothing for itself.
bool keeps_values(const Collective& collective, int rank);

// Which block of the user's input holds what a step calls `block`: of Alltoall the own one has two
// names.
std::uint32_t input_of(const Collective& collective, std::uint32_t block);

// A bit for each rank whose values there are in a block before and after.
std::uint64_t given(const Collective& collective, int rank);
std::uint64_t wanted(const Collective& collective, std::uint32_t block);

bool is_empty(const Collective& collective, std::uint32_t meaning);

// Truths about step kinds.
bool sends(Action action);
bool receives(Action action);
bool uses_slot(Action action);
bool reads_values(Action action);
bool writes_values(Action action);

}  // namespace thinwire::collective::testing
