// Integers in the bits of floats (codec/integers.h), as messages meet them.
#pragma once

#include <cstdint>

namespace thinwire::message {

// The setting THINWIRE_INTEGERS, as it is at the first call.
bool declines_integers_by_setting();

// The setting THINWIRE_FILL_VALUES, likewise (message/fill_values.h).
bool declines_fill_values_by_setting();

// Counts of this process, since the start.
struct IntegerCounts {
  std::uint64_t declined;  // fp64 arrays that a lossy codec did not take for them
  std::uint64_t coded;     // fp32 arrays in host memory that a lossy codec took with them
};
IntegerCounts integer_counts();

void count_declined_integers();
void count_coded_integers();

}  // namespace thinwire::message
