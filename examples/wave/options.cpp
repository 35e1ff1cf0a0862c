#include "options.h"

#include <limits>

#include "stencil.h"

namespace wave {

examples::CommandLine command_line(Options* options) {
  constexpr int kSmallest = 4 * kRadius;
  constexpr int kLargest = 4096;
  constexpr int kAny = std::numeric_limits<int>::max();
  examples::CommandLine line;
  line.integer("--nx", kSmallest, kLargest, &options->nx);
  line.integer("--ny", kSmallest, kLargest, &options->ny);
  line.integer("--nz", kSmallest, kLargest, &options->nz);
  line.integer("--steps", 1, kAny, &options->steps);
  line.integer("--gather-every", 0, kAny, &options->gather_every);
  line.integer("--shots", 1, kSmallest, &options->shots);
  examples::add_device_options(&line, &options->device);
  line.text("--output", "FILE", &options->output);
  return line;
}

}  // namespace wave
