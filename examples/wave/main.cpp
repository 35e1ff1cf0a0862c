// A 3-D acoustic wave solver over MPI: a plain program, written as one would without compression.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "exchange.h"
#include "medium.h"
#include "options.h"
#include "slab.h"
#include "source.h"
#include "stencil.h"

namespace wave {
namespace {

struct Outcome {
  double seconds = 0;        // of the time loop, on this rank
  Traffic traffic;           // of the time loop, of this rank
  std::vector<float> field;  // rank 0: the whole wavefield after the last step
};

// Of a point that this rank owns, in its padded slab.
std::size_t index_of(const Slab& slab, const Source& source) {
  const auto plane = static_cast<std::size_t>(source.z - slab.first + kRadius);
  return (plane * slab.ny + source.y) * slab.nx + source.x;
}

Outcome simulate(MPI_Comm comm, const Options& options, const Slab& slab) {
  const Coefficients coefficients = make_coefficients(slab);
  const std::size_t padded = slab.owned() + 2 * kRadius * slab.plane();
  std::vector<float> current(padded, 0.0F);
  std::vector<float> previous(padded, 0.0F);
  const std::vector<Source> sources = place_sources(slab, options.shots);
  const double dt = time_step();

  Outcome outcome;
  if (slab.rank == 0) outcome.field.resize(slab.plane() * slab.nz);
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  for (int step = 1; step <= options.steps; ++step) {
    exchange_halos(comm, slab, current.data(), &outcome.traffic);
    advance(slab, coefficients, current.data(), previous.data());
    for (const Source& source : sources) {
      if (slab.owns(source.z)) previous[index_of(slab, source)] += ricker(step * dt - source.onset);
    }
    std::swap(current, previous);
    const bool due = options.gather_every > 0 && step % options.gather_every == 0;
    if (due || step == options.steps) {
      gather_field(comm, slab, current.data(), &outcome.field, &outcome.traffic);
    }
  }
  outcome.seconds = MPI_Wtime() - start;
  return outcome;
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
void report(MPI_Comm comm, const Options& options, const Slab& slab, const Outcome& outcome) {
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
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options;
  std::string error;
  if (!parse_options(argc, argv, &options, &error)) {
    if (rank == 0) std::fprintf(stderr, "wave: %s\n%s\n", error.c_str(), usage());
    return 2;
  }
  if (options.nz / ranks < kRadius) {
    if (rank == 0) std::fprintf(stderr, "wave: %d ranks need --nz %d\n", ranks, kRadius * ranks);
    return 2;
  }
  const Slab slab = make_slab(options.nx, options.ny, options.nz, rank, ranks);
  const Outcome outcome = simulate(MPI_COMM_WORLD, options, slab);
  report(MPI_COMM_WORLD, options, slab, outcome);
  if (rank == 0 && !options.output.empty() && !write_field(options.output, outcome.field)) {
    std::fprintf(stderr, "wave: cannot write %s\n", options.output.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace wave

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = wave::run(argc, argv);
  MPI_Finalize();
  return status;
}
