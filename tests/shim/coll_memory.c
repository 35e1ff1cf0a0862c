// coll_memory: large collectives on one communicator, then on many others, all of which stay. Plain
// MPI; rank 0 prints by how many bytes its memory has grown on the others.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kComms = 12, kCount = 4 << 20 };

// A value with a mantissa that codecs shorten, but not by much.
static float value(int rank, int at) {
  const uint32_t bits = 0x3f800000u | (((uint32_t)at + (uint32_t)rank) * 2654435761u >> 20) << 11;
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static long resident_bytes(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) exit(2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0, level = 0, mistakes = 0;
  long before = 0;
  MPI_Comm comms[kComms];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  float* data = malloc(kCount * sizeof *data);
  float* all = malloc((size_t)size * kCount * sizeof *all);
  for (int at = 0; at < kCount; ++at) data[at] = value(rank, at);
  for (int at = 0; at < kComms; ++at) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
    MPI_Allgather(data, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, comms[at]);
    MPI_Request request;
    MPI_Ibcast(data, kCount, MPI_FLOAT, 0, comms[at], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int from = 0; from < size; ++from) {
      mistakes += all[(size_t)from * kCount + kCount - 1] != value(from, kCount - 1);
    }
    mistakes += data[kCount - 1] != value(0, kCount - 1);
    if (at == 0) before = resident_bytes();
    for (int i = 0; i < kCount; ++i) data[i] = value(rank, i);
  }
  if (rank == 0) printf("grown %ld\n", resident_bytes() - before);
  for (int at = 0; at < kComms; ++at) MPI_Comm_free(&comms[at]);
  MPI_Finalize();
  free(data);
  free(all);
  return mistakes != 0;
}
