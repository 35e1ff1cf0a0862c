// Values that sender and receiver can both name.
#pragma once

#include <cstdint>

#include "random.h"
#include "types.h"

namespace legality {

enum class Kind { kSmooth, kRandom, kWhole, kSpecial, kConstant, kSmall };

struct Content {
  Kind kind = Kind::kSmooth;
  std::uint64_t key = 0;
};

Content draw_content(Random& random);

// The bytes of one element.
void write_value(const Content& content, int element, Base base, void* to);

// A value of kSmall: a whole number other than zero. Sums over ranks are exact in any order.
int small_value(const Content& content, int element);

}  // namespace legality
