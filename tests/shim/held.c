/* 16-bit floats (bf16) that travel as bytes and as 16-bit integers, on two communicators: a policy
 * may say of "weights" what they are. All is exact on "other", on "weights" within `MOST` of each
 * value; sums, odd numbers of bytes and other integers are exact everywhere. Three ranks. Each of
 * them prints "all right".
 *
 * held [MOST] */
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 9000, kRanks = 3, kBytes = 2 * kCount };

static int rank, mistakes;
static float most;

static uint16_t word(int from, int to, int at) {
  const float value =
      (float)from + (float)to / 4 + (float)((at * 7 + at / 50) % 64) / 64 + 0.0078125F;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static float value_of(uint16_t word_of_it) {
  const uint32_t bits = (uint32_t)word_of_it << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void fill(void* to_bytes, int count, int from, int to) {
  for (int at = 0; at < count; ++at) {
    const uint16_t one = word(from, to, at);
    memcpy((char*)to_bytes + 2 * at, &one, 2);
  }
}

static void expect(const void* bytes, int count, int from, int to, float near, const char* what) {
  for (int at = 0; at < count; ++at) {
    uint16_t got;
    memcpy(&got, (const char*)bytes + 2 * at, 2);
    const uint16_t right = word(from, to, at);
    if (got == right || fabsf(value_of(got) - value_of(right)) <= near) continue;
    fprintf(stderr, "rank %d: %s brings %g for %g\n", rank, what, value_of(got), value_of(right));
    ++mistakes;
    return;
  }
}

/* At an odd address, and every second word of an array. */
static void messages(MPI_Comm comm, float near) {
  const int next = (rank + 1) % kRanks, last = (rank + kRanks - 1) % kRanks;
  char *sent = malloc(2 * kBytes + 2), *got = malloc(2 * kBytes + 2);
  fill(sent + 1, kCount, rank, 1);
  MPI_Sendrecv(sent + 1, kBytes, MPI_BYTE, next, 1, got + 1, kBytes, MPI_BYTE, last, 1, comm,
               MPI_STATUS_IGNORE);
  expect(got + 1, kCount, last, 1, near, "a message of bytes");
  MPI_Datatype every_second;
  MPI_Type_vector(kCount, 1, 2, MPI_INT16_T, &every_second);
  MPI_Type_commit(&every_second);
  for (int at = 0; at < kCount; ++at) fill(sent + 4 * at, 1, rank, at % 5);
  MPI_Sendrecv(sent, 1, every_second, next, 2, got, kCount, MPI_INT16_T, last, 2, comm,
               MPI_STATUS_IGNORE);
  for (int at = 0; at < kCount; ++at) expect(got + 2 * at, 1, last, at % 5, near, "a vector");
  MPI_Type_free(&every_second);
  fill(sent, kCount, rank, 3);
  sent[kBytes] = (char)rank;
  MPI_Sendrecv(sent, kBytes + 1, MPI_BYTE, next, 3, got, kBytes + 1, MPI_BYTE, last, 3, comm,
               MPI_STATUS_IGNORE);
  expect(got, kCount, last, 3, 0, "an odd number of bytes");
  mistakes += got[kBytes] != last;
  free(sent), free(got);
}

static void collectives(MPI_Comm comm, float near) {
  char *one = malloc(kBytes + 1), *all = malloc(kRanks * (kBytes + 1) + 1);
  fill(one, kCount, rank, 0);
  MPI_Bcast(one, kCount, MPI_UINT16_T, 1, comm);
  expect(one, kCount, 1, 0, near, "a broadcast of words");
  fill(one, kCount, rank, 2);
  MPI_Allgather(one, kBytes, MPI_BYTE, all, kBytes, MPI_BYTE, comm);
  for (int from = 0; from < kRanks; ++from) {
    expect(all + from * kBytes, kCount, from, 2, near, "a gathering of bytes");
  }
  /* Blocks that begin at odd bytes. */
  int counts[kRanks], places[kRanks];
  for (int at = 0; at < kRanks; ++at) counts[at] = kBytes, places[at] = at * (kBytes + 1) + 1;
  MPI_Allgatherv(one, kBytes, MPI_BYTE, all, counts, places, MPI_BYTE, comm);
  for (int from = 0; from < kRanks; ++from) {
    expect(all + places[from], kCount, from, 2, near, "a gathering at odd places");
  }
  for (int to = 0; to < kRanks; ++to) fill(all + 1 + to * kBytes, kCount, rank, to);
  char* const other = malloc(kRanks * kBytes);
  MPI_Alltoall(all + 1, kCount, MPI_SHORT, other, kCount, MPI_SHORT, comm);
  for (int from = 0; from < kRanks; ++from) {
    expect(other + from * kBytes, kCount, from, rank, near, "an exchange of words");
  }
  for (int at = 0; at < kRanks; ++at) places[at] = at * kBytes;
  MPI_Alltoallv(all + 1, counts, places, MPI_BYTE, other, counts, places, MPI_BYTE, comm);
  for (int from = 0; from < kRanks; ++from) {
    expect(other + from * kBytes, kCount, from, rank, near, "an exchange of lists");
  }
  /* One rank's block is no whole number of words, which the others do not know. */
  counts[2] = kBytes - 1;
  MPI_Gatherv(one, counts[rank], MPI_BYTE, all, counts, places, MPI_BYTE, 0, comm);
  for (int from = 0; from < kRanks && rank == 0; ++from) {
    expect(all + places[from], kCount - (from == 2), from, 2, 0, "a gathering of odd bytes");
  }
  free(one), free(all), free(other);
}

static void left_alone(MPI_Comm comm) {
  short* const shorts = malloc(2 * kBytes);
  int* const ints = malloc(kCount * sizeof(int));
  for (int at = 0; at < kCount; ++at) shorts[at] = (short)(at % 3000 + rank);
  MPI_Allreduce(MPI_IN_PLACE, shorts, kCount, MPI_SHORT, MPI_SUM, comm);
  for (int at = 0; at < kCount; ++at) mistakes += shorts[at] != 3 * (at % 3000) + 3;
  for (int at = 0; at < kCount; ++at) ints[at] = rank == 2 ? at * 65537 : -1;
  MPI_Bcast(ints, kCount, MPI_INT, 2, comm);
  for (int at = 0; at < kCount; ++at) mistakes += ints[at] != at * 65537;
  free(shorts), free(ints);
}

int main(int count, char** words) {
  most = count > 1 ? (float)atof(words[1]) : 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const names[] = {"weights", "other"};
  for (int at = 0; at < 2; ++at) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, names[at]);
    const float near = at == 0 ? most : 0;
    messages(comm, near);
    collectives(comm, near);
    left_alone(comm);
    MPI_Comm_free(&comm);
  }
  if (mistakes == 0) {
    fputs("all right\n", stdout);
    fflush(stdout);
  }
  MPI_Finalize();
  return mistakes != 0;
}
