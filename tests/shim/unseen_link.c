// unseen_link WHO ROUNDS: messages of 4 MiB that shrink go from half of the ranks, on one host, to
// the other half, each with an answer. WHO is all, or one: the other pairs rest. Prints the least
// and the median milliseconds of the messages after the first 20, and "all right" on each rank.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kFloats = 1 << 20, kSettled = 20, kMostRounds = 1000 };

static int compare(const void* one, const void* other) {
  const double left = *(const double*)one, right = *(const double*)other;
  return (left > right) - (left < right);
}

// The rank on the other host, and whether this one sends. Launchers place ranks by turns, or the
// first half of them on the first host.
static int partner_of(int rank, int ranks, int* sends) {
  char own[MPI_MAX_PROCESSOR_NAME] = {0};
  char* const all = calloc((size_t)ranks, sizeof own);
  int length = 0;
  MPI_Get_processor_name(own, &length);
  MPI_Allgather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, MPI_COMM_WORLD);
  const int by_turns = strcmp(all, all + sizeof own) != 0;
  *sends = strcmp(own, all) == 0;
  free(all);
  return by_turns ? rank ^ 1 : (rank + ranks / 2) % ranks;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, sends = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int everybody = argc > 1 && strcmp(argv[1], "all") == 0;
  const int asked = argc > 2 ? atoi(argv[2]) : 40;
  const int rounds = asked < kMostRounds ? asked : kMostRounds;
  const int partner = partner_of(rank, ranks, &sends);
  const int takes_part = everybody || rank == 0 || partner == 0;
  float* const sent = malloc(sizeof(float) * kFloats);
  float* const got = calloc(kFloats, sizeof(float));
  double took[kMostRounds];
  int timed = 0;
  for (int at = 0; at < kFloats; ++at) sent[at] = (float)(1 + at / 64);
  for (int round = 0; round < rounds && takes_part; ++round) {
    const double start = MPI_Wtime();
    if (sends) {
      MPI_Send(sent, kFloats, MPI_FLOAT, partner, 1, MPI_COMM_WORLD);
      MPI_Recv(got, 1, MPI_FLOAT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      memset(got, 0, sizeof(float) * kFloats);
      MPI_Recv(got, kFloats, MPI_FLOAT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(got, 1, MPI_FLOAT, partner, 2, MPI_COMM_WORLD);
      wrong |= memcmp(sent, got, sizeof(float) * kFloats) != 0;
    }
    if (round >= kSettled) took[timed++] = 1e3 * (MPI_Wtime() - start);
  }
  qsort(took, (size_t)timed, sizeof took[0], compare);
  if (rank == 0 && timed > 0) printf("least %.3f median %.3f\n", took[0], took[timed / 2]);
  if (!wrong) printf("all right\n");
  MPI_Finalize();
  return wrong;
}
