// Messages between worlds: processes that were spawned, and connections to them. In their own world
// the parents exchange one message each a case, and nothing else that is longer than an int.
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "dynamic.h"

// Debian's MPICH 4.0 cannot spawn.
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 40100000

enum { kOrderTag = 9, kNoMore = -1, kLarge = 1 << 18 };

// Runs one case on both sides: a talk, after which each side tells the other its failures.
static void talk(int which) {
  const int before = failure_count();
  int others = 0;
  kTalks[which]();
  const int own = failure_count() - before;
  MPI_Allreduce(&own, &others, 1, MPI_INT, MPI_SUM, between);
  CHECK(others == 0 || !is_parent);
}

// Over UCX MPICH 5.0 loses messages from any source between two worlds.
static void enter_world(void) {
  setenv("MPIR_CVAR_CH4_NETMOD", "ofi", 0);
  MPI_Init(NULL, NULL);
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
}

int run_child(void) {
  int which = kNoMore;
  enter_world();
  MPI_Comm_get_parent(&between);
  for (;;) {
    MPI_Recv(&which, 1, MPI_INT, 0, kOrderTag, between, MPI_STATUS_IGNORE);
    if (which == kNoMore) break;
    talk(which);
  }
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return 0;
}

// Once a job: the second time Open MPI 4.1 hangs now and then.
static void start(void) {
  char program[PATH_MAX] = "", option[] = "--child";
  char* arguments[] = {option, NULL};
  is_parent = 1;
  enter_world();
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) abort();
  MPI_Comm_spawn(program, arguments, kChildren, MPI_INFO_NULL, 0, comm, &between,
                 MPI_ERRCODES_IGNORE);
}

static int sum(int own) {
  int total = 0;
  MPI_Allreduce(&own, &total, 1, MPI_INT, MPI_SUM, comm);
  return total;
}

static void order(int which) {
  for (int child = 0; child < kChildren && rank == 0; ++child) {
    MPI_Send(&which, 1, MPI_INT, child, kOrderTag, between);
  }
}

static void dismiss(void) {
  if (between == MPI_COMM_NULL) return;
  order(kNoMore);
  MPI_Comm_disconnect(&between);
  CHECK(between == MPI_COMM_NULL);
}

static void stop(void) {
  dismiss();
  MPI_Finalize();
}

static void in_own_world(void) {
  float *sent = floats(kLarge), *received = floats(kLarge);
  fill(sent, kLarge, rank);
  MPI_Sendrecv(sent, kLarge, MPI_FLOAT, 1 - rank, 1, received, kLarge, MPI_FLOAT, 1 - rank, 1, comm,
               MPI_STATUS_IGNORE);
  CHECK(holds(received, kLarge, 1 - rank));
}

static void with_children(int which) {
  order(which);
  talk(which);
  in_own_world();
}

static void exchanges(void) { with_children(kExchanges); }
static void wildcards(void) { with_children(kWildcards); }
static void persistent(void) { with_children(kPersistent); }
static void merged(void) { with_children(kMerged); }
static void connected(void) { with_children(kConnected); }
#if defined(OPEN_MPI)
static void joined(void) { with_children(kJoined); }
#endif

// The children end, and the parents go on.
static void gone(void) {
  dismiss();
  in_own_world();
}

static const Case kCases[] = {
    {"children_exchanges", exchanges},
    {"children_wildcards", wildcards},
    {"children_persistent", persistent},
    {"children_merged", merged},
    {"children_connected", connected},
#if defined(OPEN_MPI)
    {"children_joined", joined},
#endif
    {"children_gone", gone},
};
static const Life kLife = {start, sum, stop};
const Family dynamic_family = {"dynamic", 2, 0, kCases, (int)(sizeof kCases / sizeof kCases[0]),
                               &kLife};
#else
NO_CASES(dynamic);
int run_child(void) { return 1; }
#endif
