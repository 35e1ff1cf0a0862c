// Rank 1 sends messages of 4 MiB to rank 0, on another host, and beside them what must not be taken
// for the link: small messages whose acknowledgements are waited for, small reductions, or an
// upload at 4 MB/s that is not MPI's. Prints the milliseconds of a message.
// shim_beside none|pause|small|reductions|upload ROUNDS [ADDRESS of rank 0's host]
#include <arpa/inet.h>
#include <math.h>
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kFloats = 1 << 20, kSmall = 2048, kPort = 7719, kPiece = 40000 };

static volatile int ended;
static int rank;

static void rest(long microseconds) {
  const struct timespec time = {0, 1000 * microseconds};
  nanosleep(&time, NULL);
}

static int listening(void) {
  const int yes = 1, it = socket(AF_INET, SOCK_STREAM, 0);
  const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  setsockopt(it, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(it, (const struct sockaddr*)&at, sizeof at) != 0 || listen(it, 1) != 0) exit(2);
  return it;
}

static void* take(void* listener) {
  const int from = accept(*(int*)listener, NULL, NULL);
  static char data[kPiece];
  while (read(from, data, sizeof data) > 0) {
  }
  return NULL;
}

static void* upload(void* address) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  inet_pton(AF_INET, address, &to.sin_addr);
  const int it = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(it, (const struct sockaddr*)&to, sizeof to) != 0) exit(2);
  // The kernel sends it piece by piece, so that it always has some to send.
  const unsigned rate = 4000000;
  setsockopt(it, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
  static char data[kPiece];
  while (!ended) {
    if (write(it, data, sizeof data) < 0) exit(2);
  }
  shutdown(it, SHUT_RDWR);
  close(it);
  return NULL;
}

static void small_ones(void) {
  char data[kSmall] = {0};
  for (int at = 0; at < 100; ++at) {
    if (rank == 0) {
      MPI_Recv(data, kSmall, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(data, kSmall, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
      rest(500);
    }
  }
}

static void reductions(void) {
  for (int at = 0; at < 100; ++at) {
    double one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

// 1 if what came is not what was sent.
static int message(const float* sent, float* received) {
  int wrong = 0;
  if (rank == 1) {
    MPI_Send(sent, kFloats, MPI_FLOAT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(received, 1, MPI_FLOAT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(received, kFloats, MPI_FLOAT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(received, 1, MPI_FLOAT, 1, 2, MPI_COMM_WORLD);
    wrong = memcmp(sent, received, sizeof(float) * kFloats) != 0;
  }
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "none";
  const int rounds = argc > 2 ? atoi(argv[2]) : 60;
  float* sent = malloc(sizeof(float) * kFloats);
  float* received = malloc(sizeof(float) * kFloats);
  for (int at = 0; at < kFloats; ++at) sent[at] = sinf(0.001f * at);
  const int uploads = strcmp(what, "upload") == 0 && argc > 3;
  static int listener;
  pthread_t thread;
  if (uploads && rank == 0) listener = listening();
  MPI_Barrier(MPI_COMM_WORLD);
  if (uploads)
    pthread_create(&thread, NULL, rank == 0 ? take : upload,
                   rank == 0 ? (void*)&listener : argv[3]);
  int wrong = 0;
  double seconds = 0;
  for (int round = 0; round < rounds; ++round) {
    if (strcmp(what, "small") == 0) small_ones();
    if (strcmp(what, "reductions") == 0) reductions();
    if (uploads || strcmp(what, "pause") == 0) rest(20000);
    const double start = MPI_Wtime();
    wrong += message(sent, received);
    if (round >= rounds / 2) seconds += MPI_Wtime() - start;
  }
  ended = 1;
  if (uploads) pthread_join(thread, NULL);
  if (rank == 1) printf("%.2f ms\n", 1e3 * seconds / (rounds - rounds / 2));
  if (rank == 0) printf("%d wrong\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
