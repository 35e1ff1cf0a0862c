// saved_time WHAT ROUNDS: of two ranks, one kind of traffic, and what it takes as the clock has it.
//   messages    4 MiB of a field from one rank to the other, each with an answer
//   halos       1 MiB of a field both ways at once, by MPI_Isend and MPI_Irecv
//   mixed       messages, every second one noise
//   overlap     halos after which both ranks compute for as long as a message takes at 1 Gbit/s
//   bcast       4 MiB of a field
//   allgather   1 MiB of a field each
//   noise       messages and broadcasts of noise, which nothing makes smaller
// Prints seconds of all rounds. The field changes from round to round.
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLarge = 1 << 20, kSmall = 1 << 18 };

static float *field, *noise, *got;
static int rank;

static int is(const char* what, const char* name) { return strcmp(what, name) == 0; }

static void fill(int round) {
  const float shift = 0.01F * (float)round;
  for (int at = 0; at < kLarge; ++at) field[at] = 280 + 20 * sinf(1e-4F * (float)at + shift);
}

static void message(const float* values) {
  if (rank == 0) {
    MPI_Send(values, kLarge, MPI_FLOAT, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(got, 1, MPI_FLOAT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(got, kLarge, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(got, 1, MPI_FLOAT, 0, 2, MPI_COMM_WORLD);
  }
}

static void halo(double compute_seconds) {
  MPI_Request requests[2];
  MPI_Irecv(got, kSmall, MPI_FLOAT, 1 - rank, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(field, kSmall, MPI_FLOAT, 1 - rank, 3, MPI_COMM_WORLD, &requests[1]);
  const double start = MPI_Wtime();
  while (MPI_Wtime() - start < compute_seconds) {
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void exchange(const char* what, int round) {
  if (is(what, "messages")) message(field);
  if (is(what, "mixed")) message(round % 2 ? noise : field);
  if (is(what, "halos")) halo(0);
  if (is(what, "overlap")) halo(8.5e-3);
  if (is(what, "bcast")) MPI_Bcast(rank == 0 ? field : got, kLarge, MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (is(what, "allgather"))
    MPI_Allgather(field, kSmall, MPI_FLOAT, got, kSmall, MPI_FLOAT, MPI_COMM_WORLD);
  if (is(what, "noise")) {
    message(noise);
    MPI_Bcast(rank == 0 ? noise : got, kLarge, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const what = argc > 1 ? argv[1] : "messages";
  const int rounds = argc > 2 ? atoi(argv[2]) : 100;
  field = malloc(sizeof(float) * kLarge);
  noise = malloc(sizeof(float) * kLarge);
  got = malloc(sizeof(float) * 2 * kLarge);
  uint32_t seed = 1;
  for (int at = 0; at < kLarge; ++at) {
    seed = seed * 1664525U + 1013904223U;
    const uint32_t bits = (seed >> 2) | 0x20000000U;
    memcpy(&noise[at], &bits, sizeof bits);
  }
  double seconds = 0;
  for (int round = 0; round < rounds; ++round) {
    fill(round);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    exchange(what, round);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds += MPI_Wtime() - start;
  }
  if (rank == 0) printf("%.6f seconds\n", seconds);
  MPI_Finalize();
  return 0;
}
