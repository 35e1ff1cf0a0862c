#include "simulation.h"

#include <mpi.h>

#include <algorithm>

#include "examples/common/memory.h"

namespace seismic {
namespace {

// Steps a box when the halos of the other group are there.
void step_stress(const Box& box, Solver* solver) {
  solver->mirror_velocity(box);
  solver->update_stress(box);
}

void step_velocity(const Box& box, Solver* solver) { solver->update_velocity(box); }

// Has the halos of a group and then all points that depend on them.
template <typename Update>
void receive_and_update(Group group, const Part& part, bool overlap, Solver* solver,
                        Exchange* exchange, Update update) {
  if (!overlap) {
    exchange->finish(group, solver);
    update(part.all(), solver);
    return;
  }
  const Interior divided = divide(part);
  update(divided.inside, solver);
  exchange->finish(group, solver);
  for (const Box& rim : divided.rims) update(rim, solver);
}

}  // namespace

Outcome simulate(MPI_Comm comm, const Setup& setup, bool overlap, Solver* solver,
                 Exchange* exchange) {
  const Part& part = setup.part;
  Outcome outcome;
  solver->wait();
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  double before = start;
  double comm_before = 0;
  exchange->start(kTractions, solver);
  for (int step = 0; step < setup.steps; ++step) {
    receive_and_update(kTractions, part, overlap, solver, exchange, step_velocity);
    exchange->start(kVelocities, solver);
    receive_and_update(kVelocities, part, overlap, solver, exchange, step_stress);
    solver->add_source(step);
    solver->mirror_stress(part.all());
    solver->record(step);
    exchange->start(kTractions, solver);
    const double now = MPI_Wtime();
    const double comm_now = exchange->traffic().seconds;
    outcome.steps.push_back({now - before, comm_now - comm_before});
    before = now;
    comm_before = comm_now;
  }
  exchange->finish(kTractions, solver);
  solver->wait();
  outcome.seconds = MPI_Wtime() - start;
  outcome.traffic = exchange->traffic();
  outcome.fingerprint = solver->fingerprint();
  outcome.peak = solver->peak();
  return outcome;
}

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
