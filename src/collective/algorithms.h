// The table of schedules: tests, plan, benches and the C ABI enumerate it.
#pragma once

#include <cstdint>
#include <span>

#include "collective/schedule.h"
#include "plan/work.h"

namespace thinwire::collective {

using plan::Algorithm;
using plan::Coding;

struct Row {
  Operation operation;
  Algorithm algorithm;
  Coding coding;
  Schedule (*make)(const Topology& topology);

  // Most codings, one after the other or summed up, that reach one value of the result. `size` is
  // how many ranks there are, of two levels how many nodes. 0 if nothing is coded: where it
  // is 1.
  std::uint64_t (*codings)(int size);

  // Most additions of a reduction that follow one another on the way to one value; nullptr if that
  // is one less than there are ranks.
  std::uint64_t (*additions)(int size) = nullptr;
};

std::span<const Row> algorithms();

// The same as the plan takes them.
std::span<const plan::Way> all_ways();

// nullptr if there is no such row.
const Row* find_algorithm(Operation operation, Algorithm algorithm, Coding coding);

const char* operation_name(Operation operation);  // as in "allreduce"
const char* algorithm_name(Algorithm algorithm);  // as in "recursive-doubling"
const char* coding_name(Coding coding);           // as in "per-hop"

}  // namespace thinwire::collective
