// A 3-D acoustic wave solver over MPI: a plain program, written as one would without compression.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "examples/common/command_line.h"
#include "examples/common/program.h"
#include "exchange.h"
#include "medium.h"
#include "solver.h"

namespace wave {

// The command line of the wave program.

struct Options {
  int nx = 176;
  int ny = 176;
  int nz = 96;
  int steps = 260;
  int gather_every = 65;  // steps between two gathers of the wavefield; 0: after the last only
  int shots = 1;          // sources along x and along y
  examples::DeviceOptions device;
  std::string output;  // raw little-endian fp32, [nz][ny][nx]; "" writes none
};

// The options as a table that writes to `options`.
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

namespace {

struct Outcome {
  double seconds = 0;        // of the time loop, on this rank
  Traffic traffic;           // of the time loop, of this rank
  std::vector<float> field;  // rank 0: the whole wavefield after the last step
};

// Setup of one rank: where its arithmetic takes place, and how its messages leave.
struct Setup {
  std::unique_ptr<Solver> solver;
  std::unique_ptr<Exchange> exchange;
};

Setup make_setup(MPI_Comm comm, const Options& options, const Slab& slab, bool on_gpu) {
  const Shots shots = make_shots(slab, options.shots, options.steps);
  const bool staged = on_gpu && options.device.staging;
  return {on_gpu ? make_gpu_solver(slab, shots) : make_cpu_solver(slab, shots),
          staged ? make_staged_exchange(comm, slab) : make_direct_exchange(comm, slab)};
}

Outcome simulate(MPI_Comm comm, const Options& options, Setup& setup) {
  Solver& solver = *setup.solver;
  Exchange& exchange = *setup.exchange;
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  for (int step = 1; step <= options.steps; ++step) {
    exchange.halos(solver.field());
    solver.advance(step);
    const bool due = options.gather_every > 0 && step % options.gather_every == 0;
    const bool gathers = due || step == options.steps;
    if (gathers && solver.snapshot() != nullptr) solver.copy_own_planes();
    // MPI knows nothing of what a GPU has still to do.
    solver.wait();
    if (gathers) exchange.gather(solver.field(), solver.snapshot());
  }
  const double seconds = MPI_Wtime() - start;
  return {seconds, exchange.traffic(), solver.download_snapshot()};
}

float largest(const std::vector<float>& field) {
  float peak = 0;
  for (const float value : field) {
    if (!std::isfinite(value)) return value;
    peak = std::max(peak, std::abs(value));
  }
  return peak;
}

// One line of JSON from rank 0: seconds and communication are of the slowest rank, bytes and
// messages of all ranks, and of the rank that sent most.
void report(MPI_Comm comm, const Options& options, const Slab& slab, bool on_gpu,
            const Outcome& outcome) {
  double seconds[2] = {outcome.seconds, outcome.traffic.seconds};
  long long total[2] = {outcome.traffic.bytes_sent, outcome.traffic.messages_sent};
  long long busiest[2] = {total[0], total[1]};
  const bool root = slab.rank == 0;
  MPI_Reduce(root ? MPI_IN_PLACE : seconds, seconds, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
  MPI_Reduce(root ? MPI_IN_PLACE : total, total, 2, MPI_LONG_LONG, MPI_SUM, 0, comm);
  MPI_Reduce(root ? MPI_IN_PLACE : busiest, busiest, 2, MPI_LONG_LONG, MPI_MAX, 0, comm);
  if (!root) return;
  const float peak = largest(outcome.field);
  std::printf("{\"program\": \"wave\", \"ranks\": %d, \"grid\": [%d, %d, %d], \"steps\": %d, ",
              slab.ranks, slab.nz, slab.ny, slab.nx, options.steps);
  std::printf("\"device\": \"%s\", \"staging\": %s, ", on_gpu ? "gpu" : "cpu",
              on_gpu && options.device.staging ? "true" : "false");
  std::printf("\"seconds\": %.6f, \"comm_seconds\": %.6f, ", seconds[0], seconds[1]);
  std::printf("\"bytes_sent\": %lld, \"messages_sent\": %lld, ", total[0], total[1]);
  std::printf("\"busiest_bytes_sent\": %lld, \"busiest_messages_sent\": %lld, ", busiest[0],
              busiest[1]);
  std::printf(std::isfinite(peak) ? "\"peak\": %.9g}\n" : "\"peak\": null}\n", peak);
  std::fflush(stdout);
}

bool write_field(const std::string& path, const std::vector<float>& field) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool whole = std::fwrite(field.data(), sizeof(float), field.size(), file) == field.size();
  return std::fclose(file) == 0 && whole;
}

int run(int argc, char** argv) {
  const auto [rank, ranks] = examples::find_world();
  Options options;
  const auto fits = [&options](std::string* error) {
    return check_device_options(options.device, error);
  };
  if (!examples::read_options("wave", command_line(&options), argc, argv, fits)) return 2;
  if (options.nz / ranks < kRadius) {
    if (rank == 0) std::fprintf(stderr, "wave: %d ranks need --nz %d\n", ranks, kRadius * ranks);
    return 2;
  }
  bool on_gpu = false;
  if (!examples::choose_device(MPI_COMM_WORLD, "wave", options.device.device, &on_gpu)) return 2;
  const Slab slab = make_slab(options.nx, options.ny, options.nz, rank, ranks);
  Setup setup = make_setup(MPI_COMM_WORLD, options, slab, on_gpu);
  const Outcome outcome = simulate(MPI_COMM_WORLD, options, setup);
  report(MPI_COMM_WORLD, options, slab, on_gpu, outcome);
  if (rank == 0 && !options.output.empty() && !write_field(options.output, outcome.field)) {
    std::fprintf(stderr, "wave: cannot write %s\n", options.output.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace wave

int main(int argc, char** argv) { return examples::run_program("wave", argc, argv, wave::run); }
