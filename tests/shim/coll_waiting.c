// coll_waiting: what non-blocking collectives cost a program beside their work. Each rank prints
// "threads N", how many it has at the end, "calls S", the seconds of 800 small Ireduce_scatter,
// eight at once, and rank 0 "share S", which part of a processor the process takes while it sleeps
// for a second and a collective waits for the others.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { kCount = 16, kCalls = 800, kAtOnce = 8, kMostRanks = 16 };

static int threads(void) {
  char line[256];
  int count = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "Threads:", 8) == 0) count = atoi(line + 8);
  }
  if (status != NULL) fclose(status);
  return count;
}

static double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void rest(long milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static double many_small(const int counts[], int size) {
  static float in[kAtOnce][kMostRanks * kCount], out[kAtOnce][kCount];
  MPI_Request requests[kAtOnce];
  const double begin = MPI_Wtime();
  for (int call = 0; call < kCalls; call += kAtOnce) {
    for (int at = 0; at < kAtOnce; ++at) {
      in[at][call % (size * kCount)] = 1;
      MPI_Ireduce_scatter(in[at], out[at], counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                          &requests[at]);
    }
    MPI_Waitall(kAtOnce, requests, MPI_STATUSES_IGNORE);
  }
  return MPI_Wtime() - begin;
}

// The others come when rank 0 has slept.
static double share_of_waiting(const int counts[], int rank) {
  static float in[kMostRanks * kCount], out[kCount];
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) rest(1500);
  MPI_Ireduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
  const double begin = MPI_Wtime(), before = processor_seconds();
  if (rank == 0) rest(1000);
  const double share = (processor_seconds() - before) / (MPI_Wtime() - begin);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return share;
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0, size = 0, counts[kMostRanks];
  float sum = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int at = 0; at < kMostRanks; ++at) counts[at] = kCount;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  const double calls = many_small(counts, size);
  const double share = share_of_waiting(counts, rank);
  if (rank == 0) printf("share %.3f\n", share);
  printf("calls %.3f\nthreads %d\n", calls, threads());
  MPI_Finalize();
  return sum != (float)size;
}
