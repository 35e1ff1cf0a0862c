// Calls that are still under way when MPI_Finalize comes.
#include <time.h>

#include "conformance.h"

// MPICH's MPI_Finalize does not go on with such a receive: it and the other's MPI_Ssend wait for
// each other.
#ifdef OMPI_MAJOR_VERSION

enum { kCount = 300, kTag = 1 };

static void start(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

// MPI has ended by then: each rank's failures are its own.
static int sum(int own) { return own; }

static void stop(void) {}

static void sleep_a_little(void) {
  const struct timespec time = {.tv_nsec = 300 * 1000 * 1000};
  nanosleep(&time, NULL);
}

// Who has freed a receive has done his part and may end. The message may come after that, and its
// sender must not wait for ever; what came nobody looks at. It is too short to be compressed. One
// process has one such case: it ends the world.
static void receive_freed_unmatched(void) {
  float *data = floats(kCount), *first = floats(kCount);
  MPI_Request request;
  CHECK(size == 2);
  fill(data, kCount, rank);
  MPI_Sendrecv(data, kCount, MPI_FLOAT, 1 - rank, 0, first, kCount, MPI_FLOAT, 1 - rank, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(holds(first, kCount, 1 - rank));
  if (rank == 1) {
    MPI_Irecv(data, kCount, MPI_FLOAT, 0, kTag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    // By now the other is within MPI_Finalize; were it not, the message would be an ordinary one.
    sleep_a_little();
    CHECK(MPI_Ssend(data, 1, MPI_FLOAT, 1, kTag, MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  CHECK(MPI_Finalize() == MPI_SUCCESS);
}

static const Case kCases[] = {
    {"receive_freed_unmatched", receive_freed_unmatched},
};
static const Life kLife = {start, sum, stop};
const Family endings_family = {"endings", 2, 0, kCases, 1, &kLife};

#else

NO_CASES(endings);

#endif
