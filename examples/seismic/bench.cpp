#include "bench.h"

#include <mpi.h>

#include <algorithm>

#include "examples/common/memory.h"

namespace seismic {
namespace {

template <typename Work>
double mean_seconds(Solver* solver, int turns, Work work) {
  work();
  solver->wait();
  const double start = MPI_Wtime();
  for (int turn = 0; turn < turns; ++turn) work();
  solver->wait();
  return (MPI_Wtime() - start) / turns;
}

double copy_rate(Solver* solver, bool on_gpu) {
  constexpr int kTurns = 10;
  const std::size_t bytes = std::size_t{1} << (on_gpu ? 30 : 27);
  const auto place = on_gpu ? examples::Place::kGpu : examples::Place::kHost;
  const examples::Array<char> from(place, bytes);
  const examples::Array<char> to(place, bytes);
  double least = mean_seconds(
      solver, 1, [&from, &to, bytes] { examples::copy_bytes(to.data(), from.data(), bytes); });
  for (int turn = 0; turn < kTurns; ++turn) {
    const double start = MPI_Wtime();
    examples::copy_bytes(to.data(), from.data(), bytes);
    solver->wait();
    least = std::min(least, MPI_Wtime() - start);
  }
  return 2.0 * static_cast<double>(bytes) / least;
}

}  // namespace

KernelTimes time_kernels(Solver* solver, const Part& part, int steps, bool on_gpu) {
  KernelTimes times;
  times.velocity_seconds =
      mean_seconds(solver, steps, [solver, &part] { solver->update_velocity(part.all()); });
  times.stress_seconds =
      mean_seconds(solver, steps, [solver, &part] { solver->update_stress(part.all()); });
  times.copy_bytes_per_second = copy_rate(solver, on_gpu);
  return times;
}

}  // namespace seismic
