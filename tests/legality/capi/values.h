// Elements that every rank can name, in the types of the C API.
#pragma once

#include <cstdint>

#include "thinwire/thinwire.h"

namespace legality {

enum class Kind { kSmooth, kRandom, kSpecial, kConstant, kSmall };

struct Content {
  Kind kind = Kind::kSmooth;
  std::uint64_t key = 0;
};

std::uint64_t size_of(std::uint32_t dtype);
void write_value(const Content& content, std::uint32_t dtype, std::uint64_t index, void* to);

// A value of kSmall: plus or minus 1 or 2. Sums and products over some ranks are exact in every
// type.
int small_value(std::uint64_t key, std::uint64_t index);

double read_number(std::uint32_t dtype, const void* from);
void write_number(double value, std::uint32_t dtype, void* to);  // cut off, not rounded

}  // namespace legality
