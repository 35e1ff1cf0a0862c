// coll_handlers: the program's error handler stays where it is while a collective that enters makes
// what it needs: a second thread, which makes errors all the time, finds it, and its handler is
// told of each. Then, "full": with no communicator left on one rank a collective works all the
// same. Each rank prints "all right".
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 60, kCount = 4000, kMostMade = 4096 };

static MPI_Comm comm;
static MPI_Errhandler handler;
static volatile int stops;
static long told, made_errors, mistakes;

static void tell(MPI_Comm* where, int* code, ...) {
  (void)where;
  (void)code;
  __atomic_add_fetch(&told, 1, __ATOMIC_RELAXED);
}

// No such rank.
static void* make_errors(void* size) {
  while (!stops) {
    MPI_Errhandler found;
    int nothing = 0;
    MPI_Comm_get_errhandler(comm, &found);
    mistakes += found != handler;
    MPI_Errhandler_free(&found);
    MPI_Send(&nothing, 1, MPI_INT, *(int*)size + 3, 0, comm);
    ++made_errors;
  }
  return NULL;
}

static void broadcast(MPI_Comm where, int rank) {
  static float data[kCount];
  for (int at = 0; at < kCount; ++at) data[at] = rank == 0 ? (float)(at / 7) : -1;
  MPI_Bcast(data, kCount, MPI_FLOAT, 0, where);
  for (int at = 0; at < kCount; ++at) mistakes += data[at] != (float)(at / 7);
}

static void run_round(int rank, int size) {
  pthread_t thread;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, handler);
  stops = 0;
  pthread_create(&thread, NULL, make_errors, &size);
  broadcast(comm, rank);
  stops = 1;
  pthread_join(thread, NULL);
  MPI_Comm_free(&comm);
}

// Errors end the program on MPI_COMM_WORLD, as they do by default.
static void run_full(int rank) {
  static MPI_Comm made[kMostMade];
  MPI_Comm own, world;
  int count = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  while (rank == 0 && count < kMostMade && MPI_Comm_dup(own, &made[count]) == MPI_SUCCESS) ++count;
  broadcast(world, rank);
  while (count > 0) MPI_Comm_free(&made[--count]);
  MPI_Comm_free(&own);
  MPI_Comm_free(&world);
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_errhandler(tell, &handler);
  broadcast(MPI_COMM_WORLD, rank);
  for (int round = 0; round < kRounds && provided == MPI_THREAD_MULTIPLE; ++round) {
    run_round(rank, size);
  }
  if (argc > 1 && strcmp(argv[1], "full") == 0) run_full(rank);
  if (told != made_errors) printf("%ld errors, the handler knows %ld\n", made_errors, told);
  if (mistakes == 0 && told == made_errors) printf("all right\n");
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
