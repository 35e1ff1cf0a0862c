// dying MOMENT: rank 1 of two kills itself at that moment of an exchange of large messages, and
// rank 0, which prints its process number first, waits for what never comes.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kCount = 1 << 20, kTag = 1, kSeconds = 60 };

static float *out, *in;

static void die(void) { kill(getpid(), SIGKILL); }

static void send_one(int to) { MPI_Send(out, kCount, MPI_FLOAT, to, kTag, MPI_COMM_WORLD); }

static void receive_one(int from) {
  MPI_Recv(in, kCount, MPI_FLOAT, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// With one message received, and the second on its way.
static void between_messages(int rank) {
  if (rank == 1) receive_one(0), die();
  send_one(1);
  send_one(1);
  receive_one(1);
}

// With its receive posted, and perhaps begun.
static void while_receiving(int rank) {
  MPI_Request request;
  int done = 0;
  if (rank == 1) {
    MPI_Irecv(in, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    die();
  }
  send_one(1);
  receive_one(1);
}

// With its send begun, and never completed.
static void while_sending(int rank) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Isend(out, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, &request);
    die();
  }
  receive_one(1);
  receive_one(1);
}

// With the message seen, and not received.
static void after_a_probe(int rank) {
  if (rank == 1) {
    MPI_Probe(0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    die();
  }
  send_one(1);
  receive_one(1);
}

// Rank 0 looks for a second message over and over.
static void while_probed(int rank) {
  int flag = 0;
  if (rank == 1) send_one(0), die();
  receive_one(1);
  while (!flag) MPI_Iprobe(1, kTag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static const struct Moment {
  const char* name;
  void (*run)(int rank);
} kMoments[] = {{"between_messages", between_messages},
                {"while_receiving", while_receiving},
                {"while_sending", while_sending},
                {"after_a_probe", after_a_probe},
                {"while_probed", while_probed}};

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  alarm(kSeconds);
  out = calloc(kCount, sizeof *out);
  in = calloc(kCount, sizeof *in);
  if (rank == 0) printf("process %ld\n", (long)getpid());
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int at = 0; at < (int)(sizeof kMoments / sizeof kMoments[0]); ++at) {
    if (argc > 1 && strcmp(argv[1], kMoments[at].name) == 0) kMoments[at].run(rank);
  }
  printf("rank %d came to the end\n", rank);
  MPI_Finalize();
  return 0;
}
