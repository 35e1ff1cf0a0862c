// coll_threads: two threads of each rank are in collectives at once, each on a communicator of its
// own that it makes and frees over and over. Prints "all right" on each rank.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kRounds = 12, kCount = 4000 };

typedef struct Worker {
  MPI_Comm parent;
  int number, mistakes;
} Worker;

static float value(int from, int number, int at) {
  return (float)(from * 8 + number * 4) + 0.25F * (float)(at / 5 % 16);
}

static int run_round(MPI_Comm comm, int number) {
  int rank = 0, size = 0, mistakes = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  float* out = malloc(sizeof(float) * kCount);
  float* all = malloc(sizeof(float) * kCount * (size_t)size);
  for (int at = 0; at < kCount; ++at) out[at] = value(rank, number, at);
  MPI_Allgather(out, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, comm);
  for (int at = 0; at < kCount * size; ++at) {
    mistakes += all[at] != value(at / kCount, number, at % kCount);
  }
  MPI_Bcast(out, kCount, MPI_FLOAT, size - 1, comm);
  for (int at = 0; at < kCount; ++at) mistakes += out[at] != value(size - 1, number, at);
  free(out);
  free(all);
  return mistakes;
}

static void* work(void* argument) {
  Worker* worker = argument;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(worker->parent, &comm);
    worker->mistakes += run_round(comm, worker->number);
    worker->mistakes += run_round(worker->parent, worker->number);
    MPI_Comm_free(&comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, mistakes = 0;
  Worker workers[kThreads];
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    printf("one thread at a time\n");
    MPI_Finalize();
    return 0;
  }
  for (int at = 0; at < kThreads; ++at) {
    workers[at] = (Worker){MPI_COMM_NULL, at, 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[at].parent);
  }
  for (int at = 0; at < kThreads; ++at) pthread_create(&threads[at], NULL, work, &workers[at]);
  for (int at = 0; at < kThreads; ++at) {
    pthread_join(threads[at], NULL);
    mistakes += workers[at].mistakes;
    MPI_Comm_free(&workers[at].parent);
  }
  printf(mistakes == 0 ? "all right\n" : "%d mistakes\n", mistakes);
  MPI_Finalize();
  return mistakes != 0;
}
