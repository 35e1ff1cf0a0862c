// Communicators that come from sessions, without, before, beside and after MPI_COMM_WORLD.
#include "conformance.h"

// Open MPI 5.0 has them, and says MPI 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

enum { kCount = 300 };

typedef struct Place {
  MPI_Session session;
  MPI_Comm comm;
  int rank, size;
} Place;

// A communicator of all processes; two of one process at a time differ in their names.
static Place enter(const char* name) {
  Place place = {.rank = 0};
  MPI_Group group;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &place.session);
  MPI_Group_from_session_pset(place.session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &place.comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(place.comm, &place.rank);
  MPI_Comm_size(place.comm, &place.size);
  return place;
}

static void leave(Place* place) {
  MPI_Comm_free(&place->comm);
  CHECK(MPI_Session_finalize(&place->session) == MPI_SUCCESS);
  CHECK(place->session == MPI_SESSION_NULL);
}

// One session is open all the time: no MPI at hand comes back safely after its last
// one has gone.
static Place lasting;

static void start(void) {
  lasting = enter("thinwire.test.lasting");
  rank = lasting.rank;
  size = lasting.size;
}

static void stop(void) {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  if (started) MPI_Finalized(&ended);
  if (started && !ended) MPI_Finalize();
  leave(&lasting);
}

static int sum(int own) {
  int total = 0;
  MPI_Allreduce(&own, &total, 1, MPI_INT, MPI_SUM, lasting.comm);
  return total;
}

// One message each way, posted, probed and matched.
static void exchange(MPI_Comm which, int me, int seed) {
  float *out = floats(kCount), *in = floats(kCount);
  const int other = 1 - me;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Message message;
  fill(out, kCount, seed + me);
  MPI_Irecv(in, kCount, MPI_FLOAT, other, 1, which, &requests[0]);
  MPI_Isend(out, kCount, MPI_FLOAT, other, 1, which, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(holds(in, kCount, seed + other));
  MPI_Isend(out, kCount - 1, MPI_FLOAT, other, 2, which, &requests[0]);
  MPI_Probe(MPI_ANY_SOURCE, 2, which, &status);
  CHECK(is_status(&status, other, 2, kCount - 1));
  fill(in, kCount, 9);
  MPI_Recv(in, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, which, &status);
  CHECK(holds(in, kCount - 1, seed + other) && is_status(&status, other, 2, kCount - 1));
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Isend(out, kCount - 2, MPI_FLOAT, other, 3, which, &requests[0]);
  MPI_Mprobe(other, 3, which, &message, &status);
  MPI_Mrecv(in, kCount, MPI_FLOAT, &message, &status);
  CHECK(holds(in, kCount - 2, seed + other) && is_status(&status, other, 3, kCount - 2));
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void exchange_in(const Place* place, int seed) {
  CHECK(place->size == 2);
  exchange(place->comm, place->rank, seed);
}

static void alone(void) {
  Place place = enter("thinwire.test.alone");
  exchange_in(&place, 1);
  leave(&place);
}

// The name of a communicator is free again when it has gone.
static void again(void) {
  for (int round = 0; round < 3; ++round) {
    Place place = enter("thinwire.test.again");
    exchange_in(&place, round);
    leave(&place);
  }
}

// The same tags in each; the first to come is not the first to go.
static void several(void) {
  Place places[3];
  static const char* const kNames[] = {"thinwire.test.a", "thinwire.test.b", "thinwire.test.c"};
  for (int at = 0; at < 3; ++at) places[at] = enter(kNames[at]);
  for (int at = 2; at >= 0; --at) exchange_in(&places[at], at);
  leave(&places[1]);
  exchange_in(&places[2], 5);
  leave(&places[0]);
  exchange_in(&places[2], 6);
  leave(&places[2]);
}

// Makes duplicates and parts of a session's communicator, and the communicator of one process.
static void descendants(void) {
  Place place = enter("thinwire.test.descendants");
  MPI_Comm copy, reversed;
  MPI_Comm_dup(place.comm, &copy);
  exchange(copy, place.rank, 1);
  MPI_Comm_split(place.comm, 0, -place.rank, &reversed);
  exchange(reversed, 1 - place.rank, 2);
  exchange(copy, place.rank, 3);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&copy);
  leave(&place);
}

static void ensure_world(void) {
  int started = 0;
  MPI_Initialized(&started);
  if (!started) MPI_Init(NULL, NULL);
}

static void exchange_in_world(int seed) {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  exchange(MPI_COMM_WORLD, me, seed);
}

static void before_the_world(void) {
  Place place = enter("thinwire.test.before");
  exchange_in(&place, 1);
  ensure_world();
  exchange_in_world(2);
  exchange_in(&place, 3);
  leave(&place);
  exchange_in_world(4);
}

static void beside_the_world(void) {
  ensure_world();
  Place place = enter("thinwire.test.beside");
  exchange_in(&place, 1);
  exchange_in_world(2);
  leave(&place);
  exchange_in_world(3);
}

static void past_the_world(void) {
  Place place = enter("thinwire.test.past");
  ensure_world();
  exchange_in_world(2);
  MPI_Finalize();
  exchange_in(&place, 3);
  leave(&place);
}

static void after_the_world(void) {
  int finalized = 0;
  ensure_world();
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Finalize();
  Place place = enter("thinwire.test.after");
  exchange_in(&place, 1);
  leave(&place);
}

// In this order: a process starts and ends its world once.
static const Case kCases[] = {
    {"session_alone", alone},
    {"session_again", again},
    {"several_sessions", several},
    {"descendants_of_a_session", descendants},
    {"session_before_the_world", before_the_world},
    {"session_beside_the_world", beside_the_world},
    {"session_past_the_world", past_the_world},
    {"session_after_the_world", after_the_world},
};
static const Life kLife = {start, sum, stop};
const Family sessions_family = {"sessions", 2, 0, kCases, (int)(sizeof kCases / sizeof kCases[0]),
                                &kLife};
#else
NO_CASES(sessions);
#endif
