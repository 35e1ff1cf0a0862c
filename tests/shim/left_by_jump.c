// left_by_jump MODE: an error handler leaves calls by longjmp(), and the program goes on. Rank 1
// sends messages of which one is longer than its receive: it compresses, or it does not. Rank 0
// says what it saw after each way of completing them, which is to be the same without the library;
// both print "all right" at the end.
//
// MODE: "plain", "persistent", "freed" (the long one's request is freed), "single" (calls of one
// message), "threads".
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRoom = 60000, kLong = 70000, kMessages = 4, kBad = 1, kMostTries = 200000000 };

static int rank, mistakes;

// One for each thread.
typedef struct {
  MPI_Comm comm;
  const char* mode;
  float* sent[kMessages];
  float* buffers[kMessages];
  int says;
} Side;

static __thread jmp_buf place;
static __thread volatile int jumps;
static __thread volatile int may_jump;

static void jump(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  if (!may_jump) {
    fprintf(stderr, "rank %d: an error where none was expected\n", rank);
    exit(3);
  }
  ++jumps;
  longjmp(place, 1);
}

// Runs `call`; 1 if it was left.
#define LEFT(call) (may_jump = 1, setjmp(place) == 0 ? (call, may_jump = 0) : (may_jump = 0, 1))

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  __atomic_add_fetch(&mistakes, 1, __ATOMIC_RELAXED);
  printf("rank %d: line %d: %s\n", rank, line, what);
}
#define EXPECT(what) expect(what, #what, __LINE__)

static unsigned random_bits(unsigned* state) { return *state = *state * 1664525u + 1013904223u; }

// Values that shrink, or none that does.
static void fill(float* to, int count, int seed, int shrinks) {
  unsigned state = (unsigned)seed * 7919u + 1;
  for (int at = 0; at < count; ++at) {
    unsigned bits = random_bits(&state);
    memcpy(&to[at], &bits, sizeof bits);
    if (shrinks) to[at] = (float)(seed + at / 9);
  }
}

static int holds(const float* from, int count, int seed, int shrinks) {
  static __thread float* wanted;
  if (wanted == NULL) wanted = malloc(kLong * sizeof *wanted);
  fill(wanted, count, seed, shrinks);
  return memcmp(from, wanted, (size_t)count * sizeof *from) == 0;
}

static int length_of(int at) { return at == kBad ? kLong : kRoom - 100 * at; }

static const char* const kWays[] = {"Wait",    "Test",     "Waitall",  "Testall", "Waitany",
                                    "Testany", "Waitsome", "Testsome", "look"};
enum { kWayCount = sizeof kWays / sizeof *kWays };

// One call after another until all requests are complete.
static void complete(int way, MPI_Request* requests, MPI_Status* statuses) {
  static __thread volatile int at, tries, flag, left;
  int index = 0, indices[kMessages], done = 0;
  MPI_Status of_some[kMessages];
  flag = 0;
  for (at = 0; way <= 1 && at < kMessages; ++at) {
    flag = 0;
    while (!flag) {
      if (way == 0) {
        LEFT(MPI_Wait(&requests[at], &statuses[at]));
        flag = 1;
      } else if (LEFT(MPI_Test(&requests[at], (int*)&flag, &statuses[at]))) {
        flag = at == kBad || requests[at] == MPI_REQUEST_NULL;
      }
    }
  }
  for (at = 0; way == 8 && at < kMessages; ++at) {
    flag = 0;
    while (!flag) {
      if (LEFT(MPI_Request_get_status(requests[at], (int*)&flag, &statuses[at]))) break;
    }
    LEFT(MPI_Wait(&requests[at], &statuses[at]));
  }
  for (tries = 0; way >= 2 && way < 8 && tries < kMostTries; ++tries) {
    index = done = 0;
    flag = 1;
    left = 0;
    switch (way) {
      case 2:
        left = LEFT(MPI_Waitall(kMessages, requests, statuses));
        break;
      case 3:
        left = LEFT(MPI_Testall(kMessages, requests, (int*)&flag, statuses));
        break;
      case 4:
        left = LEFT(MPI_Waitany(kMessages, requests, &index, &statuses[0]));
        break;
      case 5:
        left = LEFT(MPI_Testany(kMessages, requests, &index, (int*)&flag, &statuses[0]));
        break;
      case 6:
        left = LEFT(MPI_Waitsome(kMessages, requests, &done, indices, of_some));
        break;
      case 7:
        left = LEFT(MPI_Testsome(kMessages, requests, &done, indices, of_some));
        break;
      default:
        break;
    }
    if (left || !flag) continue;
    if (way <= 3) return;
    if (way <= 5 && index == MPI_UNDEFINED) return;
    if (way >= 6 && done == MPI_UNDEFINED) return;
  }
}

// Messages that are no longer than their receives, into the same memory.
static void go_on(Side* side, int tag) {
  for (int shrinks = 0; shrinks < 2; ++shrinks) {
    MPI_Request requests[kMessages];
    for (int at = 0; at < kMessages; ++at) {
      if (rank == 1) {
        fill(side->sent[at], kRoom, tag + at, shrinks);
        MPI_Isend(side->sent[at], kRoom, MPI_FLOAT, 0, tag + at, side->comm, &requests[at]);
      } else {
        MPI_Irecv(side->buffers[at], kRoom, MPI_FLOAT, 1, tag + at, side->comm, &requests[at]);
      }
    }
    MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; rank == 0 && at < kMessages; ++at) {
      EXPECT(holds(side->buffers[at], kRoom, tag + at, shrinks));
    }
  }
}

static void send_all(Side* side, int seed, int shrinks) {
  MPI_Request requests[kMessages];
  char go;
  MPI_Recv(&go, 1, MPI_CHAR, 0, 99, side->comm, MPI_STATUS_IGNORE);
  for (int at = 0; at < kMessages; ++at) {
    fill(side->sent[at], length_of(at), seed + at, shrinks || at % 2 == 0);
    MPI_Isend(side->sent[at], length_of(at), MPI_FLOAT, 0, at, side->comm, &requests[at]);
  }
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
}

static void look_at_freed_ones(MPI_Comm comm) {
  static __thread volatile int looks;
  int flag = 0;
  for (looks = 0; looks < 1000; ++looks) {
    LEFT(MPI_Iprobe(1, 98, comm, &flag, MPI_STATUS_IGNORE));
  }
}

static void receive_all(Side* side, int way, int seed, int shrinks) {
  const int persistent = strcmp(side->mode, "persistent") == 0;
  const int freed = strcmp(side->mode, "freed") == 0;
  MPI_Request requests[kMessages];
  MPI_Status statuses[kMessages];
  memset(statuses, 0, sizeof statuses);
  for (int at = 0; at < kMessages; ++at) {
    if (persistent) {
      MPI_Recv_init(side->buffers[at], kRoom, MPI_FLOAT, 1, at, side->comm, &requests[at]);
      MPI_Start(&requests[at]);
    } else {
      MPI_Irecv(side->buffers[at], kRoom, MPI_FLOAT, 1, at, side->comm, &requests[at]);
    }
  }
  if (freed) MPI_Request_free(&requests[kBad]);
  jumps = 0;
  MPI_Send("", 1, MPI_CHAR, 1, 99, side->comm);
  complete(way, requests, statuses);
  // A freed one's error may be raised by any call that completes others, or by none.
  if (freed) {
    LEFT(MPI_Barrier(side->comm));
    look_at_freed_ones(side->comm);
  }
  char handles[kMessages + 1] = "";
  int counts[kMessages] = {0};
  for (int at = 0; at < kMessages; ++at) {
    handles[at] = requests[at] == MPI_REQUEST_NULL ? '-' : '+';
    if (way <= 1 && at != kBad) MPI_Get_count(&statuses[at], MPI_FLOAT, &counts[at]);
    if (at != kBad)
      EXPECT(holds(side->buffers[at], length_of(at), seed + at, shrinks || at % 2 == 0));
    if (persistent) MPI_Request_free(&requests[at]);
  }
  if (!side->says) return;
  printf("%s %s %s: handles %s, counts %d %d %d", side->mode, kWays[way], shrinks ? "frame" : "raw",
         handles, counts[0], counts[2], counts[3]);
  // MPICH raises the error of some ways more than once.
  printf("%s\n", !freed && jumps != 0 ? ", left" : "");
}

// Calls that receive one message.
static void receive_one(Side* side, int call, int seed, int shrinks) {
  float* const buffer = side->buffers[0];
  MPI_Message message;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  const char* names[] = {"Recv", "Mrecv", "Imrecv", "Sendrecv", "Irecv", "probed", "sized"};
  static __thread volatile int left;
  static __thread float word = 1;
  MPI_Comm comm = side->comm;
  left = 0;
  jumps = 0;
  MPI_Send("", 1, MPI_CHAR, 1, 99, comm);
  switch (call) {
    case 0:
      left = LEFT(MPI_Recv(buffer, kRoom, MPI_FLOAT, 1, 5, comm, MPI_STATUS_IGNORE));
      break;
    case 1:
      MPI_Mprobe(1, 5, comm, &message, &status);
      left = LEFT(MPI_Mrecv(buffer, kRoom, MPI_FLOAT, &message, MPI_STATUS_IGNORE));
      break;
    case 2:
      MPI_Mprobe(1, 5, comm, &message, &status);
      left = LEFT(MPI_Imrecv(buffer, kRoom, MPI_FLOAT, &message, &request));
      if (!left) left = LEFT(MPI_Wait(&request, MPI_STATUS_IGNORE));
      break;
    case 3:
      left = LEFT(MPI_Sendrecv(&word, 1, MPI_FLOAT, 1, 6, buffer, kRoom, MPI_FLOAT, 1, 5, comm,
                               MPI_STATUS_IGNORE));
      break;
    case 4:
      left = LEFT(MPI_Irecv(buffer, kRoom, MPI_FLOAT, 1, -77, comm, &request));
      MPI_Irecv(side->buffers[1], kLong, MPI_FLOAT, 1, 5, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT(holds(side->buffers[1], kLong, seed, shrinks));
      break;
    case 5:
      MPI_Probe(1, 5, comm, &status);
      left = LEFT(MPI_Recv(buffer, kRoom, MPI_FLOAT, 1, 5, comm, MPI_STATUS_IGNORE));
      break;
    default: {
      int count = 0;
      MPI_Probe(1, 5, comm, &status);
      MPI_Get_count(&status, MPI_FLOAT, &count);
      EXPECT(count == kLong);
      left = LEFT(MPI_Recv(buffer, kRoom, MPI_FLOAT, 1, 5, comm, MPI_STATUS_IGNORE));
      break;
    }
  }
  if (side->says) printf("%s %s: left %d\n", names[call], shrinks ? "frame" : "raw", left);
}

static void send_one(Side* side, int call, int seed, int shrinks) {
  char go;
  float word = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (call == 3) MPI_Irecv(&word, 1, MPI_FLOAT, 0, 6, side->comm, &request);
  MPI_Recv(&go, 1, MPI_CHAR, 0, 99, side->comm, MPI_STATUS_IGNORE);
  fill(side->sent[0], kLong, seed, shrinks);
  MPI_Send(side->sent[0], kLong, MPI_FLOAT, 0, 5, side->comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void* run(void* of) {
  Side* side = of;
  const int single = strcmp(side->mode, "single") == 0;
  for (int at = 0; at < kMessages; ++at) {
    side->sent[at] = malloc(kLong * sizeof(float));
    side->buffers[at] = malloc(kLong * sizeof(float));
  }
  for (int round = 0; round < 2 * (single ? 7 : kWayCount); ++round) {
    const int which = round / 2, shrinks = round % 2, seed = 100 * round;
    if (single) {
      if (rank == 1) send_one(side, which, seed, shrinks);
      if (rank == 0) receive_one(side, which, seed, shrinks);
    } else {
      if (rank == 1) send_all(side, seed, shrinks);
      if (rank == 0) receive_all(side, which, seed, shrinks);
      if (rank == 1 && strcmp(side->mode, "freed") == 0) MPI_Barrier(side->comm);
    }
    go_on(side, 1000);
  }
  for (int at = 0; at < kMessages; ++at) {
    free(side->sent[at]);
    free(side->buffers[at]);
  }
  return NULL;
}

static void start(Side* side, const char* mode, MPI_Errhandler handler) {
  memset(side, 0, sizeof *side);
  side->mode = mode;
  MPI_Comm_dup(MPI_COMM_WORLD, &side->comm);
  MPI_Comm_set_errhandler(side->comm, handler);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "plain";
  const int threads = strcmp(mode, "threads") == 0;
  int provided = 0;
  MPI_Errhandler handler;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(jump, &handler);
  // MPICH raises some there.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  Side sides[2];
  start(&sides[0], threads ? "plain" : mode, handler);
  sides[0].says = !threads;
  if (threads) {
    pthread_t thread;
    start(&sides[1], "plain", handler);
    pthread_create(&thread, NULL, run, &sides[1]);
    run(&sides[0]);
    pthread_join(thread, NULL);
    MPI_Comm_free(&sides[1].comm);
  } else {
    run(&sides[0]);
  }
  MPI_Comm_free(&sides[0].comm);
  MPI_Errhandler_free(&handler);
  printf("%s\n", mistakes == 0 ? "all right" : "mistakes");
  MPI_Finalize();
  return mistakes != 0;
}
