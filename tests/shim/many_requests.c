// many_requests REQUESTS BYTES [multiple]: of two ranks; rank 1 has as many receives pending, and
// completes them by each call that may complete some of them. Rank 1 prints how many milliseconds
// of its processor each way took, the least of three times. "multiple": under MPI_THREAD_MULTIPLE.
// many_requests threads: both ranks have threads, each of which sends and receives arrays with its
// own tag, some of them compressed, and completes what is pending by one call after another. MPI
// gives handles that one thread's call has completed to the next. Every value is compared.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, requests, bytes;
static char* memory;
static MPI_Request* pending;
static int* indices;
static MPI_Status* statuses;

static int of_waitany(int count, MPI_Request* of) {
  int index = 0;
  MPI_Waitany(count, of, &index, MPI_STATUS_IGNORE);
  return 1;
}

static int of_testany(int count, MPI_Request* of) {
  int index = 0, flag = 0;
  MPI_Testany(count, of, &index, &flag, MPI_STATUS_IGNORE);
  return flag && index != MPI_UNDEFINED;
}

static int of_waitsome(int count, MPI_Request* of) {
  int done = 0;
  MPI_Waitsome(count, of, &done, indices, MPI_STATUSES_IGNORE);
  return done;
}

static int of_testsome(int count, MPI_Request* of) {
  int done = 0;
  MPI_Testsome(count, of, &done, indices, statuses);
  return done == MPI_UNDEFINED ? 0 : done;
}

static int of_testall(int count, MPI_Request* of) {
  int flag = 0;
  MPI_Testall(count, of, &flag, MPI_STATUSES_IGNORE);
  return flag ? count : 0;
}

static const struct {
  const char* name;
  int (*complete)(int, MPI_Request*);
} kWays[] = {{"waitany", of_waitany},
             {"testany", of_testany},
             {"waitsome", of_waitsome},
             {"testsome", of_testsome},
             {"testall", of_testall}};

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// All messages have arrived when the clock starts.
static double once(int (*complete)(int, MPI_Request*)) {
  for (int at = 0; rank == 1 && at < requests; ++at) {
    MPI_Irecv(memory + (size_t)at * (size_t)bytes, bytes, MPI_BYTE, 0, at, MPI_COMM_WORLD,
              &pending[at]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int at = 0; rank == 0 && at < requests; ++at) {
    MPI_Send(memory + (size_t)at * (size_t)bytes, bytes, MPI_BYTE, 1, at, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) return 0;
  const double start = processor_seconds();
  for (int left = requests; left > 0;) left -= complete(requests, pending);
  return processor_seconds() - start;
}

static void take_times(void) {
  memory = calloc((size_t)requests, (size_t)bytes);
  pending = calloc((size_t)requests, sizeof *pending);
  indices = calloc((size_t)requests, sizeof *indices);
  statuses = calloc((size_t)requests, sizeof *statuses);
  for (size_t way = 0; way < sizeof kWays / sizeof *kWays; ++way) {
    double least = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
      const double took = once(kWays[way].complete);
      if (took < least) least = took;
    }
    if (rank == 1) printf("%s %.3f\n", kWays[way].name, 1e3 * least);
  }
  free(memory), free(pending), free(indices), free(statuses);
}

enum { kThreads = 4, kArrays = 6, kRounds = 60, kMost = 40000 };
static int mistakes;

static int length_of(int thread, int round, int at) {
  return at % 3 == 0 ? kMost : 16 + (thread * 7919 + round * 104729 + at * 1301) % 9000;
}

static float value_of(int thread, int round, int at, int place) {
  return (float)(thread * 1000 + round * 10 + at) + (float)(place % 512);
}

static void complete_all(int way, MPI_Request* of) {
  int places[2 * kArrays];
  MPI_Status its[2 * kArrays];
  for (int left = 2 * kArrays; left > 0;) {
    int done = 0, index = 0;
    if (way == 0) {
      MPI_Waitany(2 * kArrays, of, &index, its);
      done = index != MPI_UNDEFINED;
    } else if (way == 1) {
      MPI_Testany(2 * kArrays, of, &index, &done, its);
      done = done && index != MPI_UNDEFINED;
    } else if (way == 2) {
      MPI_Waitsome(2 * kArrays, of, &done, places, its);
    } else {
      MPI_Testsome(2 * kArrays, of, &done, places, MPI_STATUSES_IGNORE);
    }
    left -= done;
  }
}

static void* exchange(void* given) {
  const int thread = (int)(size_t)given;
  float* const mine = malloc(kArrays * kMost * sizeof *mine);
  float* const theirs = malloc(kArrays * kMost * sizeof *theirs);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request of[2 * kArrays];
    for (int at = 0; at < kArrays; ++at) {
      const int length = length_of(thread, round, at), tag = thread * kArrays + at;
      for (int place = 0; place < length; ++place) {
        mine[at * kMost + place] = value_of(thread, round, at, place) + (float)rank;
      }
      MPI_Irecv(theirs + at * kMost, kMost, MPI_FLOAT, 1 - rank, tag, MPI_COMM_WORLD, &of[at]);
    }
    for (int at = 0; at < kArrays; ++at) {
      MPI_Isend(mine + at * kMost, length_of(thread, round, at), MPI_FLOAT, 1 - rank,
                thread * kArrays + at, MPI_COMM_WORLD, &of[kArrays + at]);
    }
    complete_all((thread + round) % 4, of);
    for (int at = 0; at < kArrays; ++at) {
      for (int place = 0; place < length_of(thread, round, at); ++place) {
        const float wanted = value_of(thread, round, at, place) + (float)(1 - rank);
        if (theirs[at * kMost + place] == wanted) continue;
        __atomic_add_fetch(&mistakes, 1, __ATOMIC_RELAXED);
        break;
      }
    }
  }
  free(mine), free(theirs);
  return NULL;
}

static void exchange_in_threads(void) {
  pthread_t threads[kThreads];
  for (size_t at = 0; at < kThreads; ++at) {
    pthread_create(&threads[at], NULL, exchange, (void*)at);
  }
  for (int at = 0; at < kThreads; ++at) pthread_join(threads[at], NULL);
}

int main(int argc, char** argv) {
  int provided = 0;
  const int threaded = strcmp(argv[1], "threads") == 0;
  const int multiple = threaded || argc > 3;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!threaded) {
    requests = atoi(argv[1]);
    bytes = atoi(argv[2]);
    take_times();
  } else if (provided == MPI_THREAD_MULTIPLE) {
    exchange_in_threads();
  }
  if (mistakes == 0) printf("all right\n");
  MPI_Finalize();
  return mistakes != 0;
}
