// A program with threads, whose ranks need nothing of each other, or broadcast, or broadcast while
// a thread waits in a call in which the MPI speaks with its launcher.
//
// shim_questions nothing|broadcast|spawn    (spawn: 2 ranks)
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kFloats = 1 << 16 };

static char* program;
static int rank;

static void broadcast(void) {
  static float values[kFloats];
  for (int at = 0; rank == 0 && at < kFloats; ++at) values[at] = (float)at;
  MPI_Bcast(values, kFloats, MPI_FLOAT, 0, MPI_COMM_WORLD);
  for (int at = 0; at < kFloats; ++at) {
    if (values[at] != (float)at) printf("rank %d: value %d is %g\n", rank, at, values[at]);
  }
}

// Rank 1 begins the child, and all ranks of `comm` wait until it does. MPICH 4.0 fails here if a
// communicator is made meanwhile.
static void* spawn(void* comm) {
  MPI_Comm child;
  MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1, *(MPI_Comm*)comm, &child,
                 MPI_ERRCODES_IGNORE);
  MPI_Barrier(child);
  MPI_Comm_disconnect(&child);
  return NULL;
}

static void broadcast_before_rank_1_spawns(void) {
  MPI_Comm comm;
  pthread_t thread;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank == 0) {
    pthread_create(&thread, NULL, spawn, &comm);
    usleep(500 * 1000);
  }
  broadcast();
  if (rank == 0) {
    pthread_join(thread, NULL);
  } else {
    spawn(&comm);
  }
  MPI_Comm_free(&comm);
}

int main(int count, char** words) {
  int provided = 0;
  MPI_Comm parent;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  program = words[0];
  const int is_child = parent != MPI_COMM_NULL;
  if (is_child) {
    // MPICH 5 fails over UCX, natively too, if the child has ended before all know its address.
    MPI_Barrier(parent);
    MPI_Comm_disconnect(&parent);
  } else if (count > 1 && strcmp(words[1], "broadcast") == 0) {
    broadcast();
  } else if (count > 1 && strcmp(words[1], "spawn") == 0) {
    broadcast_before_rank_1_spawns();
  }
  MPI_Finalize();
  if (!is_child) printf("all right\n");
  return 0;
}
