#include "examples/common/values.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace examples {

template <typename Real>
std::vector<Real> read_floats(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (bytes < 0) throw std::runtime_error("cannot read " + path);
  const auto whole = static_cast<std::size_t>(bytes);
  if (whole == 0 || whole % sizeof(Real) != 0) {
    throw std::runtime_error(path + " has " + std::to_string(whole) + " bytes: no array of " +
                             std::to_string(8 * sizeof(Real)) + "-bit floats");
  }
  std::vector<Real> values(std::min(whole / sizeof(Real), most));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(Real)));
  if (!file) throw std::runtime_error("cannot read " + path);
  if (!std::all_of(values.begin(), values.end(), [](Real one) { return std::isfinite(one); })) {
    throw std::runtime_error(path + " holds NaN or infinity");
  }
  return values;
}

template std::vector<float> read_floats<float>(const std::string&, std::size_t);
template std::vector<double> read_floats<double>(const std::string&, std::size_t);

}  // namespace examples
