#include "options.h"

#include <bit>

#include "serial.h"

namespace fft {
namespace {

constexpr int kMost = 2048;  // so that MPI's int counts the values of a block

}  // namespace

examples::CommandLine command_line(Options* options) {
  examples::CommandLine line;
  line.integer("--size", 4, kMost, &options->size);
  line.integer("--repeat", 1, 1 << 20, &options->repeat);
  line.number("--slope", -10, &options->slope);
  line.text("--field", "FILE", &options->field);
  line.text("--spectrum", "FILE", &options->spectrum);
  line.flag("--json", &options->json);
  examples::add_device_options(&line, &options->device);
  return line;
}

bool check(const Options& options, int ranks, std::string* error) {
  const auto size = static_cast<unsigned>(options.size);
  if (options.size % ranks != 0) {
    *error = "--size " + std::to_string(options.size) + " does not divide into slabs for " +
             std::to_string(ranks) + " ranks";
  } else if (options.device.device != examples::Device::kGpu && !cpu_takes_any_size() &&
             !std::has_single_bit(size)) {
    *error =
        "--size must be a power of two: this build's transforms on CPUs are its own, FFTW was "
        "not found";
  }
  return error->empty() && check_device_options(options.device, error);
}

}  // namespace fft
