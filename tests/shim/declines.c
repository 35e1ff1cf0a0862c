// declines WAY RANDOM SMOOTH: rank 0 sends that many messages of random bits to rank 1, then so
// many of values that compress; both ways arrive bit for bit. WAY: send, isend or persistent.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1 << 14 };

static uint64_t bits;

static uint64_t next_bits(void) {
  bits ^= bits << 13;
  bits ^= bits >> 7;
  return bits ^= bits << 17;
}

static void fill(double* values, int message, int smooth) {
  bits = 0x9E3779B97F4A7C15u + (uint64_t)message;
  for (int at = 0; at < kCount; ++at) {
    // Any bits but those of a NaN.
    const uint64_t random = next_bits() & ~(UINT64_C(1) << 62);
    if (smooth) values[at] = message + at;
    if (!smooth) memcpy(&values[at], &random, sizeof random);
  }
}

static void wait_for(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

int main(int argc, char** argv) {
  static double out[kCount], in[kCount];
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const char* way = argv[1];
  const int random = atoi(argv[2]), all = random + atoi(argv[3]);
  int rank = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request = MPI_REQUEST_NULL;
  const int persistent = strcmp(way, "persistent") == 0;
  if (rank == 0 && persistent) {
    MPI_Send_init(out, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
  }
  for (int message = 0; message < all; ++message) {
    fill(out, message, message >= random);
    if (rank == 1) {
      MPI_Recv(in, kCount, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += memcmp(in, out, sizeof in) != 0;
    } else if (persistent) {
      MPI_Start(&request);
      wait_for(&request);
    } else if (strcmp(way, "isend") == 0) {
      MPI_Isend(out, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
      wait_for(&request);
    } else {
      MPI_Send(out, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    }
  }
  if (rank == 0 && persistent) MPI_Request_free(&request);
  if (wrong != 0) printf("rank %d: %d messages arrived wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
