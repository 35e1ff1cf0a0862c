// Messages between two worlds. Parents and children do the same at the same time; every process has
// one partner on the other side, of the same rank, and seeds tell the sides apart.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dynamic.h"

int is_parent;
MPI_Comm between;

enum { kCount = 300, kLarge = 1 << 18 };

// Not of the case's arrays: what those are in a child is nobody's to say.
static float out[kLarge], in[kLarge];

// Connections between two processes of one host; a negative value is an error.
static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket that listens on a port of the system's choice.
static int listen_here(int* port) {
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listening, (struct sockaddr*)&address, length) != 0 || listen(listening, 1) != 0)
    return -1;
  getsockname(listening, (struct sockaddr*)&address, &length);
  *port = ntohs(address.sin_port);
  return listening;
}

static int accept_one(int listening) {
  const int connection = accept(listening, NULL, NULL);
  close(listening);
  return connection;
}

static int connect_here(int port) {
  struct sockaddr_in address = loopback(port);
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  return connect(connection, (struct sockaddr*)&address, sizeof address) == 0 ? connection : -1;
}

static int own_seed(void) { return 10 * is_parent + rank; }
static int other_seed(void) { return 10 * !is_parent + rank; }

static void swap(MPI_Comm which, int partner, int count) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  fill(out, count, own_seed());
  MPI_Irecv(in, count, MPI_FLOAT, partner, 1, which, &requests[0]);
  MPI_Isend(out, count, MPI_FLOAT, partner, 1, which, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  CHECK(holds(in, count, other_seed()) && is_status(&statuses[0], partner, 1, count));
}

static void talk_exchanges(void) {
  MPI_Status status;
  swap(between, rank, kCount);
  swap(between, rank, kLarge);
  fill(out, kCount, own_seed());
  MPI_Sendrecv(out, kCount, MPI_FLOAT, rank, 2, in, kCount, MPI_FLOAT, rank, 2, between, &status);
  CHECK(holds(in, kCount, other_seed()) && is_status(&status, rank, 2, kCount));
  MPI_Sendrecv_replace(out, kCount, MPI_FLOAT, rank, 3, rank, 3, between, &status);
  CHECK(holds(out, kCount, other_seed()) && is_status(&status, rank, 3, kCount));
}

static void receive_any(int way, MPI_Status* status) {
  MPI_Message message;
  int flag = 0;
  if (way == 1) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, between, status);
  while (way == 2 && !flag) MPI_Iprobe(MPI_ANY_SOURCE, 4, between, &flag, status);
  if (way == 3) MPI_Mprobe(MPI_ANY_SOURCE, 4, between, &message, status);
  if (way > 0) CHECK(is_status(status, status->MPI_SOURCE, 4, kCount));
  if (way == 3) MPI_Mrecv(in, kCount, MPI_FLOAT, &message, status);
  if (way < 3) MPI_Recv(in, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, between, status);
}

// From any source, probed or not: one message of each process on the other side a round.
static void talk_wildcards(void) {
  fill(out, kCount, own_seed());
  for (int way = 0; way < 4; ++way) {
    MPI_Request requests[kChildren];
    MPI_Status status;
    for (int to = 0; to < kChildren; ++to) {
      MPI_Isend(out, kCount, MPI_FLOAT, to, 4, between, &requests[to]);
    }
    int seen[kChildren] = {0, 0};
    for (int at = 0; at < kChildren; ++at) {
      receive_any(way, &status);
      ++seen[status.MPI_SOURCE];
      CHECK(is_status(&status, status.MPI_SOURCE, 4, kCount));
      CHECK(holds(in, kCount, other_seed() - rank + status.MPI_SOURCE));
    }
    MPI_Waitall(kChildren, requests, MPI_STATUSES_IGNORE);
    CHECK(seen[0] == 1 && seen[1] == 1);
    MPI_Barrier(between);
  }
}

static void talk_persistent(void) {
  MPI_Request requests[2];
  MPI_Send_init(out, kLarge, MPI_FLOAT, rank, 5, between, &requests[0]);
  MPI_Recv_init(in, kLarge, MPI_FLOAT, rank, 5, between, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    fill(out, kLarge, own_seed() + round);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(holds(in, kLarge, other_seed() + round));
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// One communicator of both worlds: parents first, and only across.
static void talk_merged(void) {
  MPI_Comm merged;
  int me = 0;
  MPI_Intercomm_merge(between, !is_parent, &merged);
  MPI_Comm_rank(merged, &me);
  CHECK(me == rank + (is_parent ? 0 : kChildren));
  swap(merged, (me + kChildren) % (2 * kChildren), kCount);
  swap(merged, (me + kChildren) % (2 * kChildren), kLarge);
  MPI_Comm_free(&merged);
}

static void talk_connected(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm connected;
  if (is_parent && rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 6, between);
  } else if (rank == 0) {
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 6, between, MPI_STATUS_IGNORE);
  }
  if (is_parent) MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &connected);
  if (!is_parent) MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &connected);
  swap(connected, rank, kCount);
  swap(connected, rank, kLarge);
  MPI_Comm_disconnect(&connected);
  if (is_parent && rank == 0) MPI_Close_port(port);
}

// MPICH's hangs now and then.
#if defined(OPEN_MPI)
// By a socket that two of the processes have.
static void talk_joined(void) {
  MPI_Comm joined = MPI_COMM_NULL;
  int port = 0, connection = -1;
  if (rank != 0) return;
  if (is_parent) {
    const int listening = listen_here(&port);
    MPI_Send(&port, 1, MPI_INT, rank, 7, between);
    connection = accept_one(listening);
  } else {
    MPI_Recv(&port, 1, MPI_INT, rank, 7, between, MPI_STATUS_IGNORE);
    connection = connect_here(port);
  }
  CHECK(connection >= 0 && MPI_Comm_join(connection, &joined) == MPI_SUCCESS);
  swap(joined, 0, kCount);
  MPI_Comm_disconnect(&joined);
  close(connection);
}
#endif

const Talk kTalks[kTalkCount] = {
    [kExchanges] = talk_exchanges, [kWildcards] = talk_wildcards, [kPersistent] = talk_persistent,
    [kMerged] = talk_merged,       [kConnected] = talk_connected,
#if defined(OPEN_MPI)
    [kJoined] = talk_joined,
#endif
};
