// usage: small_calls BATCHES [FLOATS [threads] [beside] [only=PATTERN]]
//
// Runs batches of each pattern, on one process, which is its own partner, or on two. "threads":
// with MPI_THREAD_MULTIPLE. "beside": while a large receive is pending all the time. Prints a JSON
// line a pattern: the fastest batch and the median one, in nanoseconds a call, by the clock, and of
// one process alone by the processor time of its thread, which others' work disturbs less.
#include "small_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kPlaces = kThousands + 8, kBesideFloats = 1 << 18, kBesideTag = 3 * kThousands };

static const Pattern kPatterns[] = {
    {"halo", batch_halo, kMessages, false},
    {"waitany", batch_waitany, kMessages, false},
    {"waitsome", batch_waitsome, kMessages, false},
    {"testany", batch_testany, kMessages, false},
    {"testsome", batch_testsome, kMessages, false},
    {"testall", batch_testall, kMessages, false},
    {"one", batch_one, kMessages, false},
    {"persistent", batch_persistent, kMessages, false},
    {"persistent_any", batch_persistent_any, kMessages, false},
    {"partitioned", batch_partitioned, MPI_VERSION >= 4 ? kMessages : 0, false},
    {"thousands", batch_thousands, kThousands, false},
    {"sendrecv", batch_sendrecv, kMessages, false},
    {"modes", batch_modes, kMessages, false},
    {"probe", batch_probe, kMessages, false},
    {"mprobe", batch_mprobe, kMessages, false},
    {"any_source", batch_any_source, kMessages, false},
    {"self", batch_self, 0, false},
    {"cancel", batch_cancel, 0, false},
    {"get_status", batch_get_status, kMessages, false},
    {"communicator", batch_communicator, 0, false},
    {"split", batch_split, 0, false},
    {"types", batch_types, kMessages, false},
    {"pack", batch_pack, kMessages, false},
    {"one_sided", batch_one_sided, kMessages, false},
    {"collectives", batch_collectives, 0, false},
    {"started_collectives", batch_started_collectives, 0, false},
    {"threads", batch_threads, kMessages / kThreads* kThreads, true},
};

static float value_of(int rank, int batch, int at) {
  return (float)(1000 * batch + at) + 0.5f * rank;
}

// New values each time, or a batch that moves nothing would pass for one that does.
static void prepare(Run* run, int batch, int messages) {
  for (int at = 0; at < messages || at < kMessages; ++at) {
    *sent_at(run, at) = value_of(run->rank, batch, at);
  }
}

static bool is_right(const Run* run, int batch, int messages) {
  for (int at = 0; at < messages; ++at) {
    if (*received_at(run, at) != value_of(run->partner, batch, at)) return false;
  }
  return true;
}

static double now(bool alone) {
  struct timespec time;
  clock_gettime(alone ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int by_size(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

static bool measure(Run* run, const Pattern* pattern, int batches, double* each) {
  bool right = true;
  int calls = 0;
  for (int batch = -3; batch < batches; ++batch) {
    prepare(run, batch + 3, pattern->messages);
    if (run->size > 1) MPI_Barrier(run->comm);
    const double start = now(run->size == 1);
    calls = pattern->batch(run);
    const double took = now(run->size == 1) - start;
    if (calls == 0) return true;
    if (batch >= 0) each[batch] = took / calls;
    // Others' one-sided calls end with a barrier.
    if (run->size > 1) MPI_Barrier(run->comm);
    right = right && is_right(run, batch + 3, pattern->messages);
  }
  qsort(each, batches, sizeof *each, by_size);
  if (run->rank == 0) {
    printf(
        "{\"pattern\": \"%s\", \"fastest\": %.1f, \"median\": %.1f, \"calls\": %d, \"verified\": "
        "%s}\n",
        pattern->name, each[0], each[batches / 2], calls, right ? "true" : "false");
    fflush(stdout);
  }
  return right;
}

static void make_requests(Run* run) {
  for (int at = 0; at < kMessages; ++at) {
    MPI_Recv_init(received_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm,
                  &run->persistent[at]);
    MPI_Send_init(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm,
                  &run->persistent[kMessages + at]);
  }
#if MPI_VERSION >= 4
  MPI_Precv_init(run->received, kMessages, run->floats, MPI_FLOAT, run->partner, 0, run->comm,
                 MPI_INFO_NULL, &run->in_parts[0]);
  MPI_Psend_init(run->sent, kMessages, run->floats, MPI_FLOAT, run->partner, 0, run->comm,
                 MPI_INFO_NULL, &run->in_parts[1]);
#endif
}

// Open MPI has none for a process alone.
static void make_window(Run* run) {
  const MPI_Aint bytes = (MPI_Aint)kPlaces * run->floats * (MPI_Aint)sizeof(float);
  MPI_Comm_set_errhandler(run->comm, MPI_ERRORS_RETURN);
  const int error =
      MPI_Win_create(run->received, bytes, sizeof(float), MPI_INFO_NULL, run->comm, &run->window);
  if (error != MPI_SUCCESS) run->window = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(run->comm, MPI_ERRORS_ARE_FATAL);
}

static void make(Run* run, int floats) {
  MPI_Comm_dup(MPI_COMM_WORLD, &run->comm);
  MPI_Comm_rank(run->comm, &run->rank);
  MPI_Comm_size(run->comm, &run->size);
  run->partner = run->size - 1 - run->rank;
  run->floats = floats;
  run->sent = calloc((size_t)kPlaces * floats, sizeof(float));
  run->received = calloc((size_t)kPlaces * floats, sizeof(float));
  run->requests = malloc(2 * kThousands * sizeof *run->requests);
  run->statuses = malloc(2 * kThousands * sizeof *run->statuses);
  run->indices = malloc(2 * kThousands * sizeof *run->indices);
  MPI_Buffer_attach(malloc(1 << 22), 1 << 22);
  make_window(run);
  for (int at = 0; at < kThreads; ++at) MPI_Comm_dup(run->comm, &run->of_threads[at]);
  make_requests(run);
}

static void end(Run* run) {
  void* attached = NULL;
  int bytes = 0;
  for (int at = 0; at < 2 * kMessages; ++at) MPI_Request_free(&run->persistent[at]);
#if MPI_VERSION >= 4
  for (int at = 0; at < 2; ++at) MPI_Request_free(&run->in_parts[at]);
#endif
  for (int at = 0; at < kThreads; ++at) MPI_Comm_free(&run->of_threads[at]);
  if (run->window != MPI_WIN_NULL) MPI_Win_free(&run->window);
  MPI_Comm_free(&run->comm);
  MPI_Buffer_detach(&attached, &bytes);
  free(attached);
  free(run->sent);
  free(run->received);
  free(run->requests);
  free(run->statuses);
  free(run->indices);
}

static bool has(int argc, char** argv, const char* word) {
  for (int at = 3; at < argc; ++at) {
    if (strcmp(argv[at], word) == 0) return true;
  }
  return false;
}

static const char* only(int argc, char** argv) {
  for (int at = 3; at < argc; ++at) {
    if (strncmp(argv[at], "only=", 5) == 0) return argv[at] + 5;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int batches = argc > 1 ? atoi(argv[1]) : 200, floats = argc > 2 ? atoi(argv[2]) : 64;
  const bool threads = has(argc, argv, "threads"), beside = has(argc, argv, "beside");
  const char* const wanted = only(argc, argv);
  if (batches < 1 || floats < 2) return 2;
  static Run run;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  make(&run, floats);
  float* const large = calloc(2 * kBesideFloats, sizeof(float));
  double* const each = malloc(sizeof(double) * batches);
  MPI_Request pending = MPI_REQUEST_NULL;
  const MPI_Comm other = run.of_threads[0];
  if (beside) {
    MPI_Irecv(large, kBesideFloats, MPI_FLOAT, run.partner, kBesideTag, other, &pending);
  }
  bool right = true;
  for (size_t at = 0; at < sizeof kPatterns / sizeof *kPatterns; ++at) {
    if (kPatterns[at].needs_threads && !threads) continue;
    if (wanted != NULL && strcmp(kPatterns[at].name, wanted) != 0) continue;
    right = measure(&run, &kPatterns[at], batches, each) && right;
  }
  if (beside) {
    MPI_Send(large + kBesideFloats, kBesideFloats, MPI_FLOAT, run.partner, kBesideTag, other);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
  }
  free(each);
  free(large);
  end(&run);
  printf("%s\n", right ? "all right" : "wrong");
  MPI_Finalize();
  return right ? 0 : 1;
}
