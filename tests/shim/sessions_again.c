// Sessions of two ranks that end and begin again in one process, with messages of any source and
// broadcasts in each, then MPI_Init (MPI 4.0, 11.3).
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1 << 18, kRounds = 3 };

static float *sent, *got;
static int failed;

static void exchange(MPI_Comm comm, int round) {
  MPI_Datatype pairs;
  int rank = 0, count = -1;
  MPI_Status status;
  MPI_Comm_rank(comm, &rank);
  MPI_Type_contiguous(2, MPI_FLOAT, &pairs);
  MPI_Type_commit(&pairs);
  for (int at = 0; at < kCount; ++at) sent[at] = (float)round + 1e-3f * (float)(at / 32);
  memset(got, 0, kCount * sizeof *got);
  if (rank == 0) {
    MPI_Send(sent, kCount / 2, pairs, 1, 3, comm);
    memcpy(got, sent, kCount * sizeof *got);
  } else {
    MPI_Recv(got, kCount / 2, pairs, MPI_ANY_SOURCE, 3, comm, &status);
    MPI_Get_count(&status, pairs, &count);
    failed |= count != kCount / 2 || memcmp(sent, got, kCount * sizeof *got) != 0;
    memset(got, 0, kCount * sizeof *got);
  }
  MPI_Bcast(got, kCount, MPI_FLOAT, 0, comm);
  failed |= memcmp(sent, got, kCount * sizeof *got) != 0;
  MPI_Type_free(&pairs);
}

static void in_session(int round) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  exchange(comm, round);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  sent = malloc(kCount * sizeof *sent);
  got = malloc(kCount * sizeof *got);
  for (int round = 0; round < kRounds; ++round) in_session(round);
  MPI_Init(&argc, &argv);
  exchange(MPI_COMM_WORLD, kRounds);
  MPI_Finalize();
  if (!failed) printf("all right\n");
  return failed;
}
