// left_by_exception: an error handler throws, and the exception passes through the library's calls.
// Prints "all right" on each of two ranks.
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

constexpr int kCount = 200000;

void throw_it(MPI_Comm*, int*, ...) { throw std::runtime_error("an error of MPI"); }

void add_or_throw(void*, void*, int*, MPI_Datatype*) { throw std::runtime_error("an operation"); }

// A request that the program has freed fails while others are completed, in whichever call that is
// seen; natively nobody is told. Rank 1 sends.
int errors_of_freed_requests(MPI_Comm comm, int rank, float* from, float* to) {
  constexpr int kRounds = 20, kShort = kCount - 10000;
  int mistakes = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int at = 0; at < kCount; ++at) from[at] = static_cast<float>(round + at / 5);
    if (rank == 1) {
      MPI_Send(from, kCount, MPI_FLOAT, 0, 1, comm);
      MPI_Send(from, kShort, MPI_FLOAT, 0, 2, comm);
      continue;
    }
    std::vector<float> others(kCount);
    MPI_Request freed = MPI_REQUEST_NULL, request = MPI_REQUEST_NULL;
    MPI_Irecv(others.data(), kShort, MPI_FLOAT, 1, 1, comm, &freed);
    MPI_Irecv(to, kShort, MPI_FLOAT, 1, 2, comm, &request);
    MPI_Request_free(&freed);
    while (request != MPI_REQUEST_NULL) {
      try {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } catch (const std::runtime_error&) {
      }
    }
    for (int look = 0; look < 1000; ++look) {
      try {
        int flag = 0;
        MPI_Iprobe(1, 3, comm, &flag, MPI_STATUS_IGNORE);
      } catch (const std::runtime_error&) {
      }
    }
    for (int at = 0; at < kShort; ++at) mistakes += to[at] != from[at];
  }
  return mistakes;
}

}  // namespace

int main(int arguments, char** argument) {
  MPI_Init(&arguments, &argument);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm = MPI_COMM_NULL, made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(throw_it, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Op thrower = MPI_OP_NULL;
  MPI_Op_create(add_or_throw, 1, &thrower);

  std::vector<float> values(kCount), others(kCount);
  float* const from = values.data();
  float* const to = others.data();
  MPI_Request request = MPI_REQUEST_NULL;
  const int nobody = size + 3;
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"Send", [&] { MPI_Send(from, kCount, MPI_FLOAT, nobody, 0, comm); }},
      {"Recv", [&] { MPI_Recv(to, kCount, MPI_FLOAT, nobody, 0, comm, MPI_STATUS_IGNORE); }},
      {"Isend", [&] { MPI_Isend(from, kCount, MPI_FLOAT, nobody, 0, comm, &request); }},
      {"Irecv", [&] { MPI_Irecv(to, kCount, MPI_FLOAT, nobody, 0, comm, &request); }},
      {"Bcast", [&] { MPI_Bcast(from, kCount, MPI_FLOAT, nobody, comm); }},
      {"Allreduce", [&] { MPI_Allreduce(from, to, kCount, MPI_FLOAT, MPI_OP_NULL, comm); }},
      {"Comm_split", [&] { MPI_Comm_split(comm, -77, 0, &made); }},
      {"an operation", [&] { MPI_Reduce_local(from, to, kCount, MPI_FLOAT, thrower); }},
  };
  int mistakes = 0;
  for (const auto& [name, call] : calls) {
    bool left = false;
    try {
      call();
    } catch (const std::runtime_error&) {
      left = true;
    }
    if (left) continue;
    ++mistakes;
    std::printf("rank %d: %s was not left\n", rank, name);
  }
  mistakes += errors_of_freed_requests(comm, rank, from, to);
  // The library goes on after all that.
  for (int at = 0; at < kCount; ++at) values[at] = static_cast<float>(rank == 0 ? at / 5 : 0);
  MPI_Bcast(from, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (values[kCount - 1] != static_cast<float>((kCount - 1) / 5)) ++mistakes;
  std::printf("%s\n", mistakes == 0 ? "all right" : "mistakes");
  MPI_Finalize();
  return 0;
}
