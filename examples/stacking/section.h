// A seismic section out of nothing: reflecting layers under the ground.
#pragma once

#include <cstddef>
#include <vector>

namespace stacking {

// `shape` has any number of axes, slowest first; the fastest is depth, the others are places on the
// ground. Layers dip and fold and are cut by a fault, and each gives back a Ricker wavelet. Values
// lie around 0, the strongest near 1.
std::vector<float> make_section(const std::vector<std::size_t>& shape);

}  // namespace stacking
