// new_calls MODE: calls of MPI 4 and 4.1.
//   inactive    MPI_Request_get_status_any and _some leave inactive persistent requests out
//   large_type  persistent messages of types by constructors with 64-bit counts
// Prints "all right" on each of two ranks, or "no such calls".
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAS_LOOKS
#endif
#if MPI_VERSION >= 4 && defined(SHIM_TEST_LARGE_COUNTS)
#define HAS_LARGE_TYPES
#endif

enum { kCount = 50000 };

static int rank, other, mistakes;
static float sent[2 * kCount], found[2 * kCount];

static void expect(int right, const char* what) {
  if (right) return;
  ++mistakes;
  printf("rank %d: %s\n", rank, what);
}

static void fill(void) {
  for (int at = 0; at < 2 * kCount; ++at) sent[at] = (float)(at / 6);
}

#ifdef HAS_LOOKS
static void look_at_inactive(void) {
  MPI_Request own[2], all[4];
  MPI_Recv_init(found, kCount, MPI_FLOAT, other, 1, MPI_COMM_WORLD, &own[0]);
  MPI_Send_init(sent, kCount, MPI_FLOAT, other, 1, MPI_COMM_WORLD, &own[1]);
  all[0] = own[0];
  MPI_Irecv(found, kCount, MPI_FLOAT, other, 2, MPI_COMM_WORLD, &all[1]);
  all[2] = own[1];
  all[3] = MPI_REQUEST_NULL;
  int flag = -1, index = -1, done = -1, indices[4];
  MPI_Status status, statuses[4];
  MPI_Request_get_status_any(4, all, &index, &flag, &status);
  expect(!flag && index == MPI_UNDEFINED, "any, one is pending");
  MPI_Request_get_status_some(4, all, &done, indices, statuses);
  expect(done == 0, "some, one is pending");
  MPI_Request_get_status_any(2, own, &index, &flag, &status);
  expect(flag && index == MPI_UNDEFINED, "any, all are inactive");
  MPI_Request_get_status_some(2, own, &done, indices, statuses);
  expect(done == MPI_UNDEFINED, "some, all are inactive");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(sent, kCount, MPI_FLOAT, other, 2, MPI_COMM_WORLD);
  do {
    MPI_Request_get_status_any(4, all, &index, &flag, &status);
  } while (!flag);
  int count = 0;
  MPI_Get_count(&status, MPI_FLOAT, &count);
  expect(index == 1 && count == kCount && status.MPI_TAG == 2, "any, it is complete");
  expect(memcmp(found, sent, kCount * sizeof(float)) == 0, "values, before the end");
  MPI_Request_get_status_some(4, all, &done, indices, statuses);
  MPI_Get_count(&statuses[0], MPI_FLOAT, &count);
  expect(done == 1 && indices[0] == 1 && count == kCount, "some, it is complete");
  MPI_Wait(&all[1], &status);
  MPI_Request_free(&own[0]);
  MPI_Request_free(&own[1]);
}
#endif

#ifdef HAS_LARGE_TYPES
static void exchange_large(MPI_Datatype type, int count, const char* what) {
  memset(found, 0, sizeof found);
  MPI_Type_commit(&type);
  MPI_Request both[2];
  MPI_Recv_init(found, count, type, other, 3, MPI_COMM_WORLD, &both[0]);
  MPI_Send_init(sent, count, type, other, 3, MPI_COMM_WORLD, &both[1]);
  MPI_Startall(2, both);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  MPI_Type_free(&type);
  expect(found[2] == sent[2] && found[kCount - 2] == sent[kCount - 2], what);
}

static void exchange_large_types(void) {
  MPI_Datatype type;
  MPI_Type_vector_c(kCount, 1, 2, MPI_FLOAT, &type);
  exchange_large(type, 1, "a vector");
  MPI_Type_create_resized_c(MPI_FLOAT, 0, sizeof(float), &type);
  exchange_large(type, kCount, "a resized type");
  MPI_Type_contiguous_c(kCount, MPI_FLOAT, &type);
  exchange_large(type, 1, "a contiguous type");
}
#endif

int main(int arguments, char** argument) {
  MPI_Init(&arguments, &argument);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  const char* const mode = arguments > 1 ? argument[1] : "";
  int knows = 0;
  // Used by the calls that this MPI may not have.
  (void)mode, (void)expect, (void)found;
  fill();
#ifdef HAS_LOOKS
  if (strcmp(mode, "inactive") == 0) {
    knows = 1;
    look_at_inactive();
  }
#endif
#ifdef HAS_LARGE_TYPES
  if (strcmp(mode, "large_type") == 0) {
    knows = 1;
    exchange_large_types();
  }
#endif
  printf("%s\n", !knows ? "no such calls" : mistakes == 0 ? "all right" : "mistakes");
  MPI_Finalize();
  return 0;
}
