// memory_limit data|addresses|nothing [TMPDIR]: rank 0 sends rank 1 floats by every kind of
// receive, when rank 1 has just taken as much of that as it may. Plain MPI; prints a hash of what
// rank 1 has received.
#define _GNU_SOURCE
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kCount = 8 << 20, kTag = 1, kRounds = 4, kRun = 1024 };

// From 1 to 2, with a mantissa that every codec shortens and none shortens much.
static float value(uint32_t at, uint32_t round) {
  const uint32_t bits = 0x3f800000u | ((at * 2654435761u + round * 40503u) >> 20) << 11;
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

// Limits this process's private data, or its addresses, to a little more than it has now.
static void allow_no_more(const char* what) {
  long addresses = 0, data = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %*d %*d %*d %*d %ld", &addresses, &data) != 2) exit(2);
  fclose(file);
  const int of_data = strcmp(what, "data") == 0;
  const long pages = of_data ? data : addresses;
  struct rlimit limit;
  getrlimit(of_data ? RLIMIT_DATA : RLIMIT_AS, &limit);
  limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (3 << 20);
  if (setrlimit(of_data ? RLIMIT_DATA : RLIMIT_AS, &limit) != 0) exit(2);
}

// The last round has a type with gaps, and half as many values.
static void receive(float* data, int round, MPI_Datatype gaps) {
  MPI_Request request;
  MPI_Message message;
  if (round == 0) MPI_Recv(data, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (round == 1) {
    MPI_Irecv(data, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (round == 2) {
    MPI_Mprobe(0, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, kCount, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
  }
  if (round == 3) {
    MPI_Recv(data, kCount / 2 / kRun, gaps, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static uint64_t hashed(uint64_t hash, const float* data) {
  for (int at = 0; at < kCount; ++at) {
    uint32_t bits;
    memcpy(&bits, data + at, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

int main(int argc, char** argv) {
  int rank = 0;
  uint64_t hash = 14695981039346656037u;
  MPI_Datatype run, gaps;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_contiguous(kRun, MPI_FLOAT, &run);
  MPI_Type_create_resized(run, 0, 2 * kRun * sizeof(float), &gaps);
  MPI_Type_commit(&gaps);
  float* data = malloc(kCount * sizeof(float));
  for (int at = 0; at < kCount; ++at) data[at] = -1;
  if (argc > 2) setenv("TMPDIR", argv[2], 1);
  // Has the MPI take the memory that it needs for its first messages of this size.
  if (rank == 0) MPI_Ssend(data, kCount, MPI_FLOAT, 1, kTag, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(data, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "nothing") != 0) allow_no_more(argv[1]);
  }
  for (int round = 0; round < kRounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      const int count = round == 3 ? kCount / 2 : kCount;
      for (int at = 0; at < count; ++at) data[at] = value((uint32_t)at, (uint32_t)round);
      MPI_Send(data, count, MPI_FLOAT, 1, kTag, MPI_COMM_WORLD);
      continue;
    }
    receive(data, round, gaps);
    hash = hashed(hash, data);
  }
  if (rank == 1) printf("%016llx\n", (unsigned long long)hash);
  free(data);
  MPI_Type_free(&run);
  MPI_Type_free(&gaps);
  MPI_Finalize();
  return 0;
}
