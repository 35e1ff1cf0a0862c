// A 3-D FFT over MPI: a plain program, written as one would without compression.
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/common/command_line.h"
#include "examples/common/program.h"
#include "examples/common/report.h"
#include "modes.h"
#include "serial.h"
#include "transform.h"

namespace fft {

// The command line of the FFT program.

struct Options {
  int size = 64;              // points along each axis
  int repeat = 5;             // pairs of transforms, there and back, that are timed
  double slope = -5.0 / 3.0;  // of the field's energy over the wave number
  std::string field;          // files for what the first transform starts from,
  std::string spectrum;       // and for what comes of it
  bool json = false;
  examples::DeviceOptions device;
};

// The options as a table that writes to `options`.
examples::CommandLine command_line(Options* options);

// Checks what the table cannot hold. On failure `error` holds a sentence for the user.
bool check(const Options& options, int ranks, std::string* error);

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

namespace {

// Results of one rank, but for the errors, which are all ranks'.
struct Outcome {
  std::vector<double> there;  // seconds of each transform
  std::vector<double> back;
  double comm_seconds = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t calls = 0;
  Error spectrum;              // of the first transform there
  Error field;                 // after all pairs
  std::uint64_t checksum = 0;  // of the first spectrum
};

std::vector<Value> downloaded(const Value* from, std::size_t count) {
  std::vector<Value> values(count);
  examples::copy(values.data(), from, count);
  examples::wait_for_gpu();
  return values;
}

// An array of the whole cube, [size][size][size], z, y, x, to which each rank in turn adds its
// part: runs of `run` values, the first of which is at `first` and the others `apart` values
// further each.
struct Runs {
  std::size_t first;
  std::size_t run;
  std::size_t apart;
};

void write(MPI_Comm comm, const Slabs& slabs, const std::string& path, const Runs& runs,
           const std::vector<Value>& values) {
  if (path.empty()) return;
  bool whole = true;
  for (int turn = 0; turn < slabs.ranks; ++turn) {
    if (turn == slabs.rank) {
      std::FILE* file = std::fopen(path.c_str(), turn == 0 ? "wb" : "r+b");
      std::size_t target = runs.first;
      for (std::size_t at = 0; file != nullptr && at < values.size(); at += runs.run) {
        const auto place = static_cast<long>(target * sizeof(Value));
        whole = whole && std::fseek(file, place, SEEK_SET) == 0 &&
                std::fwrite(&values[at], sizeof(Value), runs.run, file) == runs.run;
        target += runs.apart;
      }
      whole = file != nullptr && std::fclose(file) == 0 && whole;
    }
    MPI_Barrier(comm);
  }
  if (!whole) throw std::runtime_error("cannot write " + path);
}

Runs planes_of(const Slabs& slabs) {
  return {slabs.rank * slabs.values(), slabs.values(), slabs.cube()};
}

Runs rows_of(const Slabs& slabs) {
  const std::size_t rows = static_cast<std::size_t>(slabs.depth()) * slabs.size;
  return {slabs.rank * rows, rows, slabs.plane()};
}

double timed(MPI_Comm comm, Transform* transform, void (Transform::*way)(Swap)) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  (transform->*way)(&Exchange::swap);
  return examples::largest(comm, MPI_Wtime() - start);
}

Outcome transform_there_and_back(MPI_Comm comm, const Options& options, const Slabs& slabs,
                                 bool on_gpu) {
  Transform transform(comm, slabs, on_gpu, options.device.staging);
  const std::vector<Value> modes = make_spectrum(slabs, options.slope);
  examples::copy(transform.spectrum(), modes.data(), modes.size());
  transform.backward(&Exchange::swap_bytes);
  const std::vector<Value> field = downloaded(transform.field(), slabs.values());
  write(comm, slabs, options.field, planes_of(slabs), field);

  Outcome outcome;
  // The first pair is not counted: connections, plans and buffers are made in it.
  transform.forward();
  const std::vector<Value> spectrum = downloaded(transform.spectrum(), slabs.values());
  outcome.spectrum = compare(comm, spectrum, modes);
  outcome.checksum = examples::checksum(spectrum.data(), spectrum.size() * sizeof(Value));
  write(comm, slabs, options.spectrum, rows_of(slabs), spectrum);
  transform.backward();
  const Traffic before = transform.traffic();
  for (int pair = 0; pair < options.repeat; ++pair) {
    outcome.there.push_back(timed(comm, &transform, &Transform::forward));
    outcome.back.push_back(timed(comm, &transform, &Transform::backward));
  }
  outcome.comm_seconds = transform.traffic().seconds - before.seconds;
  outcome.bytes_sent = transform.traffic().bytes_sent - before.bytes_sent;
  outcome.calls = transform.traffic().calls - before.calls;
  outcome.field = compare(comm, downloaded(transform.field(), slabs.values()), field);
  return outcome;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double sum(const std::vector<double>& values) {
  double all = 0;
  for (const double one : values) all += one;
  return all;
}

void report(MPI_Comm comm, const Options& options, const Slabs& slabs, bool on_gpu,
            const Outcome& outcome) {
  const double there = median(outcome.there);
  const double back = median(outcome.back);
  const double comm_seconds = examples::largest(comm, outcome.comm_seconds);
  const double flops = 5 * static_cast<double>(slabs.cube()) * 3 * std::log2(slabs.size);
  examples::Report rows("fft");
  rows.integer("ranks", "ranks", slabs.ranks);
  rows.integer("size", "points along an axis", slabs.size);
  rows.text("device", "device", on_gpu ? "gpu" : "cpu");
  rows.text("transforms", "transforms of a rank", on_gpu ? "cufft" : cpu_name());
  rows.yes_or_no("staging", "staged by hand", on_gpu && options.device.staging);
  rows.integer("repeat", "pairs of transforms", options.repeat);
  rows.number("forward_seconds", "there", there, "s (median)");
  rows.number("backward_seconds", "back", back, "s (median)");
  rows.number("gflops", "operations", 2 * flops / (there + back) * 1e-9, "GFLOP/s");
  rows.number("comm_seconds", "communication", comm_seconds / (2.0 * options.repeat),
              "s a transform");
  rows.number("comm_share", "  share of the time",
              comm_seconds / (sum(outcome.there) + sum(outcome.back)));
  rows.integer("calls", "Alltoalls", outcome.calls);
  rows.integer("bytes_sent", "bytes sent", examples::total(comm, outcome.bytes_sent));
  rows.number("error", "error of the spectrum", outcome.spectrum.relative, "of its norm");
  rows.number("largest_error", "  largest", outcome.spectrum.largest, "of its root mean square");
  rows.number("field_error", "error of the field after all", outcome.field.relative, "of its norm");
  rows.number("largest_field_error", "  largest", outcome.field.largest, "of its root mean square");
  rows.text("checksum", "checksum of the spectrum",
            examples::hexadecimal(examples::checksum_of_all(comm, outcome.checksum)));
  if (slabs.rank == 0) rows.print(options.json);
}

int run(int argc, char** argv) {
  const auto [rank, ranks] = examples::find_world();
  Options options;
  const auto fits = [&options, ranks = ranks](std::string* error) {
    return check(options, ranks, error);
  };
  if (!examples::read_options("fft", command_line(&options), argc, argv, fits)) return 2;
  bool on_gpu = false;
  if (!examples::choose_device(MPI_COMM_WORLD, "fft", options.device.device, &on_gpu)) return 2;
  const Slabs slabs{options.size, rank, ranks};
  const Outcome outcome = transform_there_and_back(MPI_COMM_WORLD, options, slabs, on_gpu);
  report(MPI_COMM_WORLD, options, slabs, on_gpu, outcome);
  return std::isfinite(outcome.field.relative) && std::isfinite(outcome.spectrum.relative) ? 0 : 1;
}

}  // namespace
}  // namespace fft

int main(int argc, char** argv) { return examples::run_program("fft", argc, argv, fft::run); }
