// The program of a seed: ranks that are threads, their communicators, one operation after the
// other.
#pragma once

#include <cstdint>

namespace legality {

void run_program(std::uint64_t seed);

}  // namespace legality
