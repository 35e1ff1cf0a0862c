// Values of every dtype as the numbers that they are.
#pragma once

#include "thinwire/thinwire.h"

namespace thinwire::bench {

// The value at `at`, of any float dtype at any alignment.
double number_at(tw_dtype dtype, const char* at);

// Writes a number, rounded to the dtype, ties to even.
void put_number(tw_dtype dtype, double number, char* at);

// The distance from 1 to the next number of the dtype.
double epsilon_of(tw_dtype dtype);

}  // namespace thinwire::bench
