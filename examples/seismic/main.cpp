// Earthquake waves over MPI: a plain program, written as one would without compression.
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/common/program.h"
#include "examples/common/report.h"
#include "examples/common/values.h"
#include "options.h"
#include "simulation.h"

namespace seismic {
namespace {

std::string written(const Extents& extents) {
  return std::to_string(extents.z) + "x" + std::to_string(extents.y) + "x" +
         std::to_string(extents.x);
}

void write(const std::string& path, const void* data, std::size_t bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool whole = file != nullptr && std::fwrite(data, 1, bytes, file) == bytes;
  if (file != nullptr) whole = std::fclose(file) == 0 && whole;
  if (!whole) throw std::runtime_error("cannot write " + path);
}

// A line a step: milliseconds of the step, and of its communication.
void write_step_times(const std::string& path, const std::vector<StepTime>& times) {
  std::string text;
  for (const StepTime& time : times) {
    char line[64];
    std::snprintf(line, sizeof line, "%.4f %.4f\n", time.seconds * 1e3, time.comm_seconds * 1e3);
    text += line;
  }
  write(path, text.data(), text.size());
}

void describe(const Options& options, const Setup& setup, bool on_gpu, examples::Report* rows) {
  const Model& model = setup.model;
  rows->text("grid", "grid", written(setup.part.grid));
  rows->text("split", "ranks along z, y, x", written(setup.part.split));
  rows->text("device", "device", on_gpu ? "gpu" : "cpu");
  rows->yes_or_no("staging", "staged by hand", on_gpu && options.device.staging);
  rows->yes_or_no("overlap", "overlap", options.overlap);
  rows->integer("steps", "steps", options.steps);
  rows->number("spacing", "spacing", model.spacing, "m");
  rows->number("time_step", "time step", model.time_step, "s");
  rows->number("hertz", "frequency of the source", model.hertz, "Hz");
}

void report_speed(MPI_Comm comm, const Options& options, const Setup& setup, const Outcome& outcome,
                  examples::Report* rows) {
  const double seconds = examples::largest(comm, outcome.seconds);
  const double comm_seconds = examples::largest(comm, outcome.traffic.seconds);
  const auto points = static_cast<double>(setup.part.grid.points());
  const double flops = points * options.steps * (kVelocityFlops + kStressFlops);
  rows->number("seconds", "time", seconds, "s");
  rows->number("step_ms", "a step", seconds / options.steps * 1e3, "ms");
  rows->number("gflops", "operations", flops / seconds * 1e-9, "GFLOP/s");
  rows->number("comm_seconds", "communication", comm_seconds, "s");
  rows->number("comm_share", "  share of the time", comm_seconds / seconds);
  rows->integer("messages_sent", "messages", examples::total(comm, outcome.traffic.messages_sent));
  rows->integer("bytes_sent", "bytes sent", examples::total(comm, outcome.traffic.bytes_sent));
}

// Rank 0 prints and writes files. Whether the waves are finite.
bool report(MPI_Comm comm, const Options& options, const Setup& setup, int receivers, bool on_gpu,
            const Outcome& outcome) {
  const bool root = examples::find_world().rank == 0;
  // A maximum of MPI's may lose a NaN.
  const double own_peak = std::isfinite(outcome.peak) ? outcome.peak : INFINITY;
  const double peak = examples::largest(comm, own_peak);
  std::uint64_t fingerprint = outcome.fingerprint;
  MPI_Allreduce(MPI_IN_PLACE, &fingerprint, 1, MPI_UINT64_T, MPI_SUM, comm);

  examples::Report rows("seismic");
  describe(options, setup, on_gpu, &rows);
  report_speed(comm, options, setup, outcome, &rows);
  rows.integer("receivers", "receivers", receivers);
  rows.number("peak", "largest velocity", peak, "m/s");
  rows.text("checksum", "checksum", examples::hexadecimal(fingerprint));
  if (!root) return std::isfinite(peak);
  const auto& seismograms = outcome.seismograms;
  if (!options.reference.empty()) {
    // One value more than there should be is enough to see that there are too many.
    const auto reference = examples::read_floats<float>(options.reference, seismograms.size() + 1);
    if (const auto found = misfit(seismograms, reference, receivers)) {
      rows.number("misfit", "misfit of the seismograms", found->all);
      rows.number("worst_misfit", "  of the worst receiver", found->worst);
    } else {
      std::fputs("seismic: no wave had arrived at any receiver: there is no misfit\n", stderr);
    }
  }
  if (!options.seismograms.empty()) {
    write(options.seismograms, seismograms.data(), seismograms.size() * sizeof(float));
  }
  if (!options.step_times.empty()) write_step_times(options.step_times, outcome.steps);
  rows.print(options.json);
  return std::isfinite(peak);
}

void report_bench(MPI_Comm comm, const Options& options, const Setup& setup, bool on_gpu,
                  const KernelTimes& times) {
  const auto points = static_cast<double>(setup.part.own.points());
  const double velocity = examples::largest(comm, times.velocity_seconds);
  const double stress = examples::largest(comm, times.stress_seconds);
  const double both = points * (kVelocityBytes + kStressBytes) / (velocity + stress);
  const double roof = examples::smallest(comm, times.copy_bytes_per_second);
  examples::Report rows("seismic");
  describe(options, setup, on_gpu, &rows);
  rows.number("velocity_ms", "update of velocities", velocity * 1e3, "ms");
  rows.number("velocity_gbs", "  least traffic over time",
              points * kVelocityBytes / velocity * 1e-9, "GB/s a rank");
  rows.number("stress_ms", "update of stresses", stress * 1e3, "ms");
  rows.number("stress_gbs", "  least traffic over time", points * kStressBytes / stress * 1e-9,
              "GB/s a rank");
  rows.number("gbs", "both", both * 1e-9, "GB/s a rank");
  rows.number("gflops", "operations",
              points * (kVelocityFlops + kStressFlops) / (velocity + stress) * 1e-9,
              "GFLOP/s a rank");
  rows.number("copy_gbs", "a copy reads and writes", roof * 1e-9, "GB/s a rank");
  rows.number("share", "share of the copy's rate", both / roof);
  if (examples::find_world().rank == 0) rows.print(options.json);
}

Setup make_setup(const Options& options, const Extents& split, int rank,
                 const std::vector<Extents>& receivers) {
  Setup setup;
  setup.part = make_part(grid_of(options), split, rank);
  setup.model = model_of(options);
  setup.rocks = make_rock_table(setup.model);
  setup.sponge = make_sponge(setup.model, setup.part);
  setup.kept = kept_shares(setup.model);
  setup.shots = make_shots(source_of(options), setup.model, setup.part);
  setup.rates = moment_rate(setup.model, options.steps);
  setup.receivers = own_receivers(receivers, setup.part);
  setup.steps = options.steps;
  return setup;
}

int run(int argc, char** argv) {
  const auto [rank, ranks] = examples::find_world();
  Options options;
  Extents split;
  const auto fits = [&options, &split, ranks = ranks](std::string* error) {
    if (!check(options, error)) return false;
    split = split_of(options);
    return choose_split(grid_of(options), ranks, &split, error);
  };
  if (!examples::read_options("seismic", command_line(&options), argc, argv, fits)) return 2;
  bool on_gpu = false;
  if (!examples::choose_device(MPI_COMM_WORLD, "seismic", options.device.device, &on_gpu)) return 2;
  const std::vector<Extents> receivers = read_receivers(options.receivers, grid_of(options));
  const Setup setup = make_setup(options, split, rank, receivers);
  const auto solver = on_gpu ? make_gpu_solver(setup) : make_cpu_solver(setup);
  if (options.bench) {
    const KernelTimes times = time_kernels(solver.get(), setup.part, options.steps, on_gpu);
    report_bench(MPI_COMM_WORLD, options, setup, on_gpu, times);
    return 0;
  }
  Exchange exchange(MPI_COMM_WORLD, setup.part, on_gpu, on_gpu && options.device.staging);
  Outcome outcome = simulate(MPI_COMM_WORLD, setup, options.overlap, solver.get(), &exchange);
  outcome.seismograms =
      gather_seismograms(MPI_COMM_WORLD, setup.receivers, static_cast<int>(receivers.size()),
                         solver->records(), options.steps);
  const auto count = static_cast<int>(receivers.size());
  return report(MPI_COMM_WORLD, options, setup, count, on_gpu, outcome) ? 0 : 1;
}

}  // namespace
}  // namespace seismic

int main(int argc, char** argv) {
  return examples::run_program("seismic", argc, argv, seismic::run);
}
