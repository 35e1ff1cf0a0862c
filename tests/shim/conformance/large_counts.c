// Calls whose counts are of type MPI_Count, against each other and against those with int counts.
#include "conformance.h"

#if MPI_VERSION >= 4
#include <stdlib.h>
#include <string.h>

enum { kCount = 400 };

typedef int (*Send)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int (*StartSend)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static int plain_send(const void* data, MPI_Count count, MPI_Datatype type, int to, int tag,
                      MPI_Comm which) {
  return MPI_Send(data, (int)count, type, to, tag, which);
}

static int plain_isend(const void* data, MPI_Count count, MPI_Datatype type, int to, int tag,
                       MPI_Comm which, MPI_Request* request) {
  return MPI_Isend(data, (int)count, type, to, tag, which, request);
}

static int plain_send_init(const void* data, MPI_Count count, MPI_Datatype type, int to, int tag,
                           MPI_Comm which, MPI_Request* request) {
  return MPI_Send_init(data, (int)count, type, to, tag, which, request);
}

// A kind of sending; exactly one of the three is there.
typedef struct Sender {
  Send blocking;
  StartSend start, initialise;
  int ready;  // wants its receive to be posted
} Sender;

static const Sender kSenders[] = {
    {.blocking = plain_send},
    {.blocking = MPI_Send_c},
    {.blocking = MPI_Ssend_c},
    {.blocking = MPI_Bsend_c},
    {.blocking = MPI_Rsend_c, .ready = 1},
    {.start = plain_isend},
    {.start = MPI_Isend_c},
    {.start = MPI_Issend_c},
    {.start = MPI_Ibsend_c},
    {.start = MPI_Irsend_c, .ready = 1},
    {.initialise = plain_send_init},
    {.initialise = MPI_Send_init_c},
    {.initialise = MPI_Ssend_init_c},
    {.initialise = MPI_Bsend_init_c},
    {.initialise = MPI_Rsend_init_c, .ready = 1},
};
enum { kSenderCount = sizeof kSenders / sizeof kSenders[0] };

static void send_by(const Sender* sender, const float* data, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (sender->blocking) sender->blocking(data, kCount, MPI_FLOAT, 1, tag, comm);
  if (sender->start) sender->start(data, kCount, MPI_FLOAT, 1, tag, comm, &request);
  if (sender->initialise) {
    sender->initialise(data, kCount, MPI_FLOAT, 1, tag, comm, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (sender->initialise) MPI_Request_free(&request);
}

enum Receiver {
  kIrecv,
  kIrecvC,
  kRecvInit,
  kRecvInitC,
  kPosted,
  kRecv,
  kRecvC,
  kMrecv,
  kMrecvC,
  kImrecv,
  kImrecvC,
  kReceiverCount
};

static void post(enum Receiver receiver, float* data, int tag, MPI_Request* request) {
  if (receiver == kIrecv) MPI_Irecv(data, kCount, MPI_FLOAT, 0, tag, comm, request);
  if (receiver == kIrecvC) MPI_Irecv_c(data, kCount, MPI_FLOAT, 0, tag, comm, request);
  if (receiver == kRecvInit) MPI_Recv_init(data, kCount, MPI_FLOAT, 0, tag, comm, request);
  if (receiver == kRecvInitC) MPI_Recv_init_c(data, kCount, MPI_FLOAT, 0, tag, comm, request);
  if (receiver == kRecvInit || receiver == kRecvInitC) MPI_Start(request);
}

static void complete(enum Receiver receiver, float* data, int tag, MPI_Request* request,
                     MPI_Status* status) {
  MPI_Message message;
  if (receiver >= kMrecv) {
    MPI_Mprobe(0, tag, comm, &message, status);
    CHECK(is_status(status, 0, tag, kCount));
  }
  if (receiver == kRecv) MPI_Recv(data, kCount, MPI_FLOAT, 0, tag, comm, status);
  if (receiver == kRecvC) MPI_Recv_c(data, kCount, MPI_FLOAT, 0, tag, comm, status);
  if (receiver == kMrecv) MPI_Mrecv(data, kCount, MPI_FLOAT, &message, status);
  if (receiver == kMrecvC) MPI_Mrecv_c(data, kCount, MPI_FLOAT, &message, status);
  if (receiver == kImrecv) MPI_Imrecv(data, kCount, MPI_FLOAT, &message, request);
  if (receiver == kImrecvC) MPI_Imrecv_c(data, kCount, MPI_FLOAT, &message, request);
  if (*request != MPI_REQUEST_NULL) MPI_Wait(request, status);
  if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
}

static void pair(const Sender* sender, enum Receiver receiver, int tag) {
  float* data = floats(kCount);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Count count = 0, elements = 0;
  if (rank == 1) post(receiver, data, tag, &request);
  meet();
  if (rank == 0) {
    fill(data, kCount, tag);
    send_by(sender, data, tag);
    return;
  }
  complete(receiver, data, tag, &request, &status);
  MPI_Get_count_c(&status, MPI_FLOAT, &count);
  MPI_Get_elements_c(&status, MPI_FLOAT, &elements);
  CHECK(holds(data, kCount, tag) && is_status(&status, 0, tag, kCount));
  CHECK(count == kCount && elements == kCount);
}

static void every_pair(void) {
  const MPI_Count space = 2 * (kCount * (MPI_Count)sizeof(float) + MPI_BSEND_OVERHEAD);
  MPI_Count detached = 0;
  void* buffer = malloc((size_t)space);
  MPI_Buffer_attach_c(buffer, space);
  for (int sender = 0; sender < kSenderCount; ++sender) {
    for (int receiver = 0; receiver < kReceiverCount; ++receiver) {
      if (kSenders[sender].ready && receiver > kPosted) continue;
      if (receiver != kPosted) pair(&kSenders[sender], receiver, 20 * sender + receiver);
    }
  }
  MPI_Buffer_detach_c(&buffer, &detached);
  CHECK(detached == space);
  free(buffer);
}

enum { kExchanges = 6 };

// Six kinds; those that replace find the other's data where their own was.
static float* exchange(int kind, float* out, float* in, MPI_Request* request, MPI_Status* status) {
  const int other = 1 - rank, tag = 1;
  if (kind == 0)
    MPI_Sendrecv(out, kCount, MPI_FLOAT, other, tag, in, kCount, MPI_FLOAT, other, tag, comm,
                 status);
  if (kind == 1)
    MPI_Sendrecv_c(out, kCount, MPI_FLOAT, other, tag, in, kCount, MPI_FLOAT, other, tag, comm,
                   status);
  if (kind == 2)
    MPI_Isendrecv_c(out, kCount, MPI_FLOAT, other, tag, in, kCount, MPI_FLOAT, other, tag, comm,
                    request);
  if (kind == 3) MPI_Sendrecv_replace(out, kCount, MPI_FLOAT, other, tag, other, tag, comm, status);
  if (kind == 4)
    MPI_Sendrecv_replace_c(out, kCount, MPI_FLOAT, other, tag, other, tag, comm, status);
  if (kind == 5)
    MPI_Isendrecv_replace_c(out, kCount, MPI_FLOAT, other, tag, other, tag, comm, request);
  return kind < 3 ? in : out;
}

static void exchanges(void) {
  for (int at = 0; at < kExchanges * kExchanges; ++at) {
    float *out = floats(kCount), *in = floats(kCount);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    fill(out, kCount, rank + at);
    const int kind = rank == 0 ? at % kExchanges : at / kExchanges;
    const float* arrived = exchange(kind, out, in, &request, &status);
    if (request != MPI_REQUEST_NULL) MPI_Wait(&request, &status);
    CHECK(holds(arrived, kCount, 1 - rank + at) && is_status(&status, 1 - rank, 1, kCount));
  }
}

static void errors_of_large_counts(void) {
  float* data = floats(kCount);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  const int other = 1 - rank;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Send_c(data, -1, MPI_FLOAT, other, 0, comm)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Send_c(data, 9, MPI_FLOAT, size, 0, comm)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Isend_c(data, 9, MPI_FLOAT, other, -7, comm, &request)) == MPI_ERR_TAG);
  CHECK(class_of(MPI_Irecv_c(data, -1, MPI_FLOAT, other, 0, comm, &request)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Recv_c(data, 9, MPI_DATATYPE_NULL, other, 0, comm, &status)) == MPI_ERR_TYPE);
  if (rank == 0) {
    fill(data, kCount, 2);
    MPI_Send_c(data, kCount, MPI_FLOAT, 1, 3, comm);
    MPI_Send_c(data, kCount, MPI_FLOAT, 1, 3, comm);
    return;
  }
  fill(data, kCount, 5);
  CHECK(class_of(MPI_Recv_c(data, 100, MPI_FLOAT, 0, 3, comm, &status)) == MPI_ERR_TRUNCATE);
  CHECK(data[100] == (float)(5 * 4096 + 100));
  CHECK(MPI_Recv_c(data, kCount, MPI_FLOAT, 0, 3, comm, &status) == MPI_SUCCESS);
  CHECK(holds(data, kCount, 2) && is_status(&status, 0, 3, kCount));
}

static void no_process(void) {
  float* data = floats(kCount);
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Count count = -1;
  fill(data, kCount, 1);
  CHECK(MPI_Send_c(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 0, comm) == MPI_SUCCESS);
  CHECK(MPI_Recv_c(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 0, comm, &status) == MPI_SUCCESS);
  MPI_Get_count_c(&status, MPI_FLOAT, &count);
  CHECK(count == 0 && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Isend_c(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 0, comm, &requests[0]);
  MPI_Irecv_c(data, kCount, MPI_FLOAT, MPI_PROC_NULL, 0, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(holds(data, kCount, 1));
}

static const Case kCases[] = {
    {"every_pair_of_large_counts", every_pair},
    {"exchanges_with_large_counts", exchanges},
    {"errors_of_large_counts", errors_of_large_counts},
    {"no_process_with_large_counts", no_process},
};
FAMILY(large_counts, 2, 0);
#else
NO_CASES(large_counts);
#endif
