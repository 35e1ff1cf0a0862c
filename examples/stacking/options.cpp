#include "options.h"

#include <limits>

namespace stacking {

examples::CommandLine command_line(Options* options) {
  examples::CommandLine line;
  line.text("--image", "FILE", &options->image);
  line.shape("--shape", &options->shape);
  line.number("--noise", 0, &options->noise);
  line.number("--aperture", 0, &options->aperture);
  line.integer("--repeat", 1, 1 << 20, &options->repeat);
  line.flag("--json", &options->json);
  examples::add_device_options(&line, &options->device);
  return line;
}

bool check(const Options& options, std::string* error) {
  // MPI counts in int.
  if (values_of(options) > std::numeric_limits<int>::max()) {
    *error = "--shape must have fewer than 2^31 values";
  } else if (options.aperture == 0 || options.aperture > 1) {
    *error = "--aperture must lie above 0 and not above 1";
  }
  return error->empty() && check_device_options(options.device, error);
}

std::size_t values_of(const Options& options) {
  std::size_t product = 1;
  for (const std::size_t extent : options.shape) product *= extent;
  return product;
}

}  // namespace stacking
