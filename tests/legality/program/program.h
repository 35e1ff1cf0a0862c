// The program of a seed, from its communicators to the line that says what it came to.
#pragma once

#include <cstdint>

#include "group.h"

namespace legality {

void run_program(std::uint64_t seed);

}  // namespace legality
