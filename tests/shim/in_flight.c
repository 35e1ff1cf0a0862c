// in_flight HOW MESSAGES WINDOW: rank 0 sends rank 1 messages of 256 KiB and keeps WINDOW of them
// in flight: before each it completes the oldest one by the call HOW (Wait, Test, Waitall, Testall,
// Waitany, Testany, Waitsome, Testsome), of persistent requests (Start), or it has WINDOW threads
// that send, blocking, and wait for an answer (threads), or one that exchanges (Sendrecv). Rank 1
// compares every value.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 65536, kMost = 16, kAnswer = 100 };

static float values[kCount];
static int messages, window;

static int is(const char* how, const char* name) { return strcmp(how, name) == 0; }

static void complete(const char* how, MPI_Request* request) {
  int done = 0, index = 0;
  MPI_Status status;
  if (*request == MPI_REQUEST_NULL) return;
  if (is(how, "Wait") || is(how, "Start")) MPI_Wait(request, &status);
  if (is(how, "Waitall")) MPI_Waitall(1, request, &status);
  if (is(how, "Waitany")) MPI_Waitany(1, request, &index, &status);
  if (is(how, "Waitsome")) MPI_Waitsome(1, request, &done, &index, &status);
  while (is(how, "Test") && !done) MPI_Test(request, &done, &status);
  while (is(how, "Testall") && !done) MPI_Testall(1, request, &done, &status);
  while (is(how, "Testany") && !done) MPI_Testany(1, request, &index, &done, &status);
  while (is(how, "Testsome") && done <= 0) MPI_Testsome(1, request, &done, &index, &status);
}

static void send_window(const char* how) {
  MPI_Request requests[kMost];
  for (int at = 0; at < window; ++at) {
    requests[at] = MPI_REQUEST_NULL;
    if (is(how, "Start"))
      MPI_Send_init(values, kCount, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &requests[at]);
  }
  for (int at = 0; at < messages; ++at) {
    MPI_Request* const oldest = &requests[at % window];
    complete(how, oldest);
    if (is(how, "Start"))
      MPI_Start(oldest);
    else
      MPI_Isend(values, kCount, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, oldest);
  }
  for (int at = 0; at < window; ++at) {
    complete(how, &requests[at]);
    if (is(how, "Start")) MPI_Request_free(&requests[at]);
  }
}

static int receive(int tag, float* got) {
  MPI_Recv(got, kCount, MPI_FLOAT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return memcmp(got, values, sizeof values) != 0;
}

static void* send_and_wait(void* number) {
  const int tag = (int)(size_t)number;
  for (int at = 0; at < messages / window; ++at) {
    MPI_Send(values, kCount, MPI_FLOAT, 1, tag, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 1, kAnswer + tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void* receive_and_answer(void* number) {
  const int tag = (int)(size_t)number;
  float* const got = malloc(sizeof values);
  size_t wrong = 0;
  for (int at = 0; at < messages / window; ++at) {
    wrong += (size_t)receive(tag, got);
    MPI_Send(NULL, 0, MPI_INT, 0, kAnswer + tag, MPI_COMM_WORLD);
  }
  free(got);
  return (void*)wrong;
}

static int run_threads(void* (*function)(void*)) {
  pthread_t threads[kMost];
  int sum = 0;
  for (int at = 0; at < window; ++at) {
    pthread_create(&threads[at], NULL, function, (void*)(size_t)at);
  }
  for (int at = 0; at < window; ++at) {
    void* wrong = NULL;
    pthread_join(threads[at], &wrong);
    sum += (int)(size_t)wrong;
  }
  return sum;
}

static int exchange(int rank) {
  static float got[kCount];
  int wrong = 0;
  for (int at = 0; at < messages; ++at) {
    MPI_Sendrecv(values, kCount, MPI_FLOAT, 1 - rank, 0, got, kCount, MPI_FLOAT, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += memcmp(got, values, sizeof values) != 0;
  }
  return wrong;
}

int main(int argc, char** argv) {
  static float got[kCount];
  int rank = 0, wrong = 0, provided = 0;
  (void)argc;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  messages = atoi(argv[2]);
  window = atoi(argv[3]);
  for (int at = 0; at < kCount; ++at) values[at] = (float)(at / 16);
  if (is(argv[1], "threads")) {
    wrong = run_threads(rank == 0 ? send_and_wait : receive_and_answer);
  } else if (is(argv[1], "Sendrecv")) {
    wrong = exchange(rank);
  } else if (rank == 0) {
    send_window(argv[1]);
  } else {
    for (int at = 0; at < messages; ++at) wrong += receive(0, got);
  }
  if (rank == 1) printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
