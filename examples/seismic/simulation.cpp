#include "simulation.h"

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

}  // namespace seismic
