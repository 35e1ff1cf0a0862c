// The images that are stacked: of one section, each rank has seen a part, and with noise. The
// options of the program say which.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "examples/common/program.h"

namespace stacking {

struct Options {
  std::string image;                             // a file of raw fp32; "" makes a section up
  std::vector<std::size_t> shape{64, 256, 256};  // slowest first
  double noise = 1e-3;                           // standard deviation, as a share of the range
  double aperture = 1;  // share of the slowest axis that each rank's image covers
  int repeat = 10;      // stacks computed and timed, one after the other
  bool json = false;
  examples::DeviceOptions device;
};

// Values of an image.
std::size_t values_of(const Options& options);

// A seismic section out of nothing: reflecting layers under the ground.

// `shape` has any number of axes, slowest first; the fastest is depth, the others are places on the
// ground. Layers dip and fold and are cut by a fault, and each gives back a Ricker wavelet. Values
// lie around 0, the strongest near 1.
std::vector<float> make_section(const std::vector<std::size_t>& shape);

class Images {
 public:
  // For `ranks` ranks. The section is the file's values, repeated until the shape is full, or one
  // made up. Errors of the file end in std::runtime_error with a sentence for the user.
  Images(const Options& options, int ranks);

  // Values of one image.
  std::size_t size() const { return section_.size(); }

  // Values `first` to `first + count - 1` of the image of any rank, the same whoever asks.
  void read(int rank, std::size_t first, std::size_t count, float* values) const;

 private:
  float weight_of(int rank, std::size_t slice) const;

  std::vector<float> section_;
  std::size_t slices_;      // along the slowest axis
  std::size_t slice_size_;  // values
  int ranks_;
  double aperture_;
  float noise_;  // standard deviation
};

}  // namespace stacking
