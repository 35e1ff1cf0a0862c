// Arrays of floats from files without a header, in the machine's byte order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace examples {

// The first values of a file, `most` at the most. Errors, an empty file, a length that is not
// one of whole values, and NaN or infinity end in std::runtime_error with a sentence for the user.
// Real is float or double.
template <typename Real>
std::vector<Real> read_floats(const std::string& path, std::size_t most);

}  // namespace examples
