// The program of a seed: ranks that are threads, their communicators, one operation after the
// other.
#pragma once

#include <cstdint>
#include <vector>

#include "arrays.h"

namespace legality {

void run_program(std::uint64_t seed);

// The result of a rank; those of all ranks are compared when all have ended.
struct Outcome {
  bool ran = false;
  tw_status status = TW_OK;
  std::uint32_t reason = 0, coding = 0;
  std::uint64_t hash = 0;
};

Outcome run_operation(tw_comm* comm, const Drawn& drawn, int rank, int size);

// Checks that the ranks agree in all in which they must.
void compare_ranks(const Drawn& drawn, const std::vector<Outcome>& outcomes);

}  // namespace legality
