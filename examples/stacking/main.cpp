// Image stacking over MPI: a plain program, written as one would without compression.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "examples/common/command_line.h"
#include "examples/common/program.h"
#include "examples/common/report.h"
#include "image.h"
#include "stack.h"

namespace stacking {
namespace {

// The options as a table that writes to `options`.
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

// Checks what the table cannot hold. On failure `error` holds a sentence for the user.
bool check(const Options& options, std::string* error) {
  // MPI counts in int.
  if (values_of(options) > std::numeric_limits<int>::max()) {
    *error = "--shape must have fewer than 2^31 values";
  } else if (options.aperture == 0 || options.aperture > 1) {
    *error = "--aperture must lie above 0 and not above 1";
  }
  return error->empty() && check_device_options(options.device, error);
}

struct Outcome {
  std::vector<double> seconds;  // of each stack, the slowest rank's, in rising order
  std::uint64_t checksum = 0;   // of this rank's stack
  bool identical = false;       // whether all ranks' stacks are the same, bit for bit
  Quality quality;
};

Outcome stack_images(MPI_Comm comm, const Options& options, bool on_gpu) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const Images images(options, ranks);
  std::vector<float> own(images.size());
  images.read(rank, 0, own.size(), own.data());
  Stack stack(comm, own, on_gpu, options.device.staging);

  Outcome outcome;
  stack.compute();  // connections and buffers are made the first time
  for (int turn = 0; turn < options.repeat; ++turn) {
    outcome.seconds.push_back(examples::largest(comm, stack.compute()));
  }
  std::sort(outcome.seconds.begin(), outcome.seconds.end());
  const std::vector<float> sum = stack.result();
  outcome.checksum = examples::checksum(sum.data(), sum.size() * sizeof(float));
  outcome.identical = examples::all_same(comm, outcome.checksum);
  outcome.quality = measure(comm, images, sum);
  return outcome;
}

std::string written(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

// Rank 0 prints.
void report(const Options& options, int ranks, bool on_gpu, const Outcome& outcome) {
  const std::size_t bytes = values_of(options) * sizeof(float);
  const double median = outcome.seconds[outcome.seconds.size() / 2];
  examples::Report rows("stacking");
  rows.integer("ranks", "ranks", ranks);
  rows.text("image", "image", options.image.empty() ? "made up" : options.image);
  rows.text("shape", "shape", written(options.shape));
  rows.integer("bytes", "bytes of an image", static_cast<std::int64_t>(bytes));
  rows.number("noise", "noise", options.noise, "of the range");
  rows.number("aperture", "aperture", options.aperture, "of the slowest axis");
  rows.text("device", "device", on_gpu ? "gpu" : "cpu");
  rows.yes_or_no("staging", "staged by hand", on_gpu && options.device.staging);
  rows.integer("repeat", "stacks", options.repeat);
  rows.number("seconds", "time of an Allreduce", median, "s (median)");
  rows.number("least_seconds", "  fastest", outcome.seconds.front(), "s");
  rows.number("gigabytes_per_second", "  image over time",
              static_cast<double>(bytes) / median * 1e-9, "GB/s");
  rows.number("range", "range of the exact stack", outcome.quality.range);
  rows.number("max_error", "largest error", outcome.quality.max_error);
  rows.number("nrmse", "NRMSE", outcome.quality.nrmse());
  rows.number("psnr", "PSNR", outcome.quality.psnr(), "dB");
  rows.yes_or_no("identical", "same bits on all ranks", outcome.identical);
  rows.text("checksum", "checksum", examples::hexadecimal(outcome.checksum));
  rows.print(options.json);
}

int run(int argc, char** argv) {
  const auto [rank, ranks] = examples::find_world();
  Options options;
  const auto fits = [&options](std::string* error) { return check(options, error); };
  if (!examples::read_options("stacking", command_line(&options), argc, argv, fits)) return 2;
  bool on_gpu = false;
  if (!examples::choose_device(MPI_COMM_WORLD, "stacking", options.device.device, &on_gpu)) {
    return 2;
  }
  const Outcome outcome = stack_images(MPI_COMM_WORLD, options, on_gpu);
  if (rank == 0) report(options, ranks, on_gpu, outcome);
  return outcome.identical && std::isfinite(outcome.quality.max_error) ? 0 : 1;
}

}  // namespace
}  // namespace stacking

int main(int argc, char** argv) {
  return examples::run_program("stacking", argc, argv, stacking::run);
}
