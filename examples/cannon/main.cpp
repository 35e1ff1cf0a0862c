// Cannon's matrix product over MPI: a plain program, written as one would without compression.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "examples/common/command_line.h"
#include "examples/common/program.h"
#include "examples/common/report.h"
#include "exchange.h"
#include "matrix.h"
#include "product.h"

namespace cannon {

// The command line of Cannon's matrix product.

enum class Precision { kFp32, kFp64 };

struct Options {
  int size = 1024;  // rows and columns of the matrices
  Precision precision = Precision::kFp64;
  std::string matrix = "kernel";  // kernel, random, or a file's path
  double length = 1;              // of the kernel; the points lie in [0, 1)
  int repeat = 1;                 // products computed and timed, one after the other
  double tolerance = 0;           // of the verification; 0: what rounding alone can do
  bool json = false;
  examples::DeviceOptions device;
};

// The options as a table that writes to `options`.
examples::CommandLine command_line(Options* options) {
  examples::CommandLine line;
  line.integer("--size", 1, 1 << 20, &options->size);
  line.choice<Precision>("--precision", {{"fp32", Precision::kFp32}, {"fp64", Precision::kFp64}},
                         &options->precision);
  line.text("--matrix", "kernel|random|FILE", &options->matrix);
  line.number("--length", 1e-6, &options->length);
  line.integer("--repeat", 1, 1 << 20, &options->repeat);
  line.number("--tolerance", 0, &options->tolerance);
  line.flag("--json", &options->json);
  examples::add_device_options(&line, &options->device);
  return line;
}

namespace {

// Results of the run on one rank.
struct Outcome {
  Times times;                        // of all products together that count
  std::vector<double> communication;  // seconds of each of them
  Traffic traffic;
  std::uint64_t checksum = 0;  // of its block
  double error = 0;            // largest_error()
  double tolerance = 0;
  std::string multiplier;
};

template <typename Real>
std::unique_ptr<Matrix<Real>> make_matrix(const Options& options, Factor factor) {
  if (options.matrix == "kernel") {
    return make_kernel_matrix<Real>(factor, options.size, options.length);
  }
  if (options.matrix == "random") return make_random_matrix<Real>(factor, options.size);
  return make_file_matrix<Real>(factor, options.size, options.matrix);
}

template <typename Real>
Outcome multiply(const Options& options, const Grid& grid, bool on_gpu, MPI_Datatype element) {
  const int rows = options.size / grid.side;
  const auto a = make_matrix<Real>(options, Factor::kLeft);
  const auto b = make_matrix<Real>(options, Factor::kRight);
  const BlockType block(rows, element);
  const auto exchange = on_gpu && options.device.staging ? make_staged_exchange(grid.comm, block)
                                                         : make_direct_exchange(grid.comm, block);
  const auto multiplier =
      on_gpu ? make_gpu_multiplier<Real>(rows) : make_cpu_multiplier<Real>(rows);
  Product<Real> product(grid, rows, on_gpu ? examples::Place::kGpu : examples::Place::kHost);
  Outcome outcome;
  const auto multiply_once = [&](Times* times) {
    product.load(*a, *b);
    product.run(exchange.get(), multiplier.get(), times);
  };
  // Connections are made, libraries loaded and memory found when they are first needed.
  Times first;
  multiply_once(&first);
  const Traffic before = exchange->traffic();
  for (int turn = 0; turn < options.repeat; ++turn) {
    const double earlier = outcome.times.communication;
    multiply_once(&outcome.times);
    outcome.communication.push_back(outcome.times.communication - earlier);
  }
  const std::vector<Real> c = product.result();
  outcome.traffic.bytes = exchange->traffic().bytes - before.bytes;
  outcome.traffic.messages = exchange->traffic().messages - before.messages;
  outcome.checksum = examples::checksum(c.data(), c.size() * sizeof(Real));
  outcome.error = largest_error(grid, rows, *a, *b, c);
  outcome.tolerance =
      options.tolerance > 0 ? options.tolerance : rounding_bound<Real>(options.size);
  outcome.multiplier = multiplier->name();
  return outcome;
}

// Reports the slowest rank's seconds, a product. Collective; rank 0 prints. Returns whether the
// product is right.
bool report(const Options& options, const Grid& grid, bool on_gpu, const Outcome& outcome) {
  const auto slowest = [&](double seconds) {
    return examples::largest(grid.comm, seconds) / options.repeat;
  };
  const double seconds = slowest(outcome.times.whole);
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const double one : outcome.communication) {
    const double of_slowest = examples::largest(grid.comm, one);
    least = std::min(least, of_slowest);
    most = std::max(most, of_slowest);
  }
  const double size = options.size;
  const double error = examples::largest(grid.comm, outcome.error);
  const bool verified = error <= outcome.tolerance;
  const bool fp64 = options.precision == Precision::kFp64;

  examples::Report rows("cannon");
  rows.integer("ranks", "ranks", grid.side * grid.side);
  rows.integer("size", "rows and columns", options.size);
  rows.text("precision", "precision", fp64 ? "fp64" : "fp32");
  rows.text("matrix", "matrix", options.matrix);
  rows.text("device", "device", on_gpu ? "gpu" : "cpu");
  rows.yes_or_no("staging", "staged by hand", on_gpu && options.device.staging);
  rows.text("multiplier", "multiplied by", outcome.multiplier);
  rows.integer("repeat", "products", options.repeat);
  rows.number("seconds", "time a product", seconds, "s");
  rows.number("comm_seconds", "  communication", slowest(outcome.times.communication), "s");
  rows.number("least_comm_seconds", "    the least", least, "s");
  rows.number("most_comm_seconds", "    the most", most, "s");
  rows.number("compute_seconds", "  computation", slowest(outcome.times.computation), "s");
  rows.number("wait_seconds", "  waiting for others", slowest(outcome.times.waiting), "s");
  rows.number("gflops", "speed", 2 * size * size * size / seconds * 1e-9, "GFLOP/s");
  rows.integer("bytes_sent", "bytes sent", examples::total(grid.comm, outcome.traffic.bytes));
  rows.integer("messages_sent", "messages sent",
               examples::total(grid.comm, outcome.traffic.messages));
  rows.number("error", "error", error);
  rows.number("tolerance", "  tolerated", outcome.tolerance);
  rows.yes_or_no("verified", "  verified", verified);
  rows.text("checksum", "checksum",
            examples::hexadecimal(examples::checksum_of_all(grid.comm, outcome.checksum)));
  if (grid.row == 0 && grid.column == 0) rows.print(options.json);
  return verified;
}

// On failure `error` holds a sentence for the user.
bool check(const Options& options, int ranks, std::string* error) {
  const int side = side_of(ranks);
  if (side == 0) {
    *error = std::to_string(ranks) + " ranks make no square: take 1, 4, 9, 16 or another";
  } else if (options.size % side != 0) {
    *error = "--size must be a multiple of " + std::to_string(side) + " for this many ranks";
  }
  return error->empty() && check_device_options(options.device, error);
}

int run(int argc, char** argv) {
  const int ranks = examples::find_world().ranks;
  Options options;
  const auto fits = [&options, ranks](std::string* error) { return check(options, ranks, error); };
  if (!examples::read_options("cannon", command_line(&options), argc, argv, fits)) return 2;
  bool on_gpu = false;
  if (!examples::choose_device(MPI_COMM_WORLD, "cannon", options.device.device, &on_gpu)) return 2;
  Grid grid = make_grid(MPI_COMM_WORLD, side_of(ranks));
  const Outcome outcome = options.precision == Precision::kFp64
                              ? multiply<double>(options, grid, on_gpu, MPI_DOUBLE)
                              : multiply<float>(options, grid, on_gpu, MPI_FLOAT);
  const bool verified = report(options, grid, on_gpu, outcome);
  free_grid(&grid);
  return verified ? 0 : 1;
}

}  // namespace
}  // namespace cannon

int main(int argc, char** argv) { return examples::run_program("cannon", argc, argv, cannon::run); }
