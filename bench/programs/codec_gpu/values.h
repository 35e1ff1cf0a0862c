// Arrays of any dtype as numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace thinwire::bench {

struct Values {
  const std::string& dtype;
  const std::vector<std::byte>& bytes;
};

// Bytes of one value; 0 for a dtype that is none. Codes are tw_dtype.
std::size_t value_bytes(const std::string& dtype);
int dtype_code(const std::string& dtype);

// Largest less smallest finite value; 0 if none is finite.
double range_of(const Values& values);

// The largest |x - x'| over the values finite in `left`; infinite if such a value is not finite
// in `right`.
double max_error(const Values& left, const Values& right);

}  // namespace thinwire::bench
