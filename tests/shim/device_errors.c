// Prints the errors that programs see when something on a GPU goes wrong, or when they ask for what
// is not supported: a line a rank of error classes. The fake device's memory stands for a GPU's.
//
// device_errors messages: an exchange that must work; lost: a send and a receive that may fail;
// refused FILE: calls that take no GPU memory; unable: collectives with memory for elements with
// gaps on some ranks alone, and then one that needs none; natives: collectives of the MPI's own
// that may fail; started: non-blocking ones.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_device/memory.h"

enum { kCount = 4096 };

static int rank, peer;

static const char* name_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  switch (error_class) {
    case MPI_SUCCESS:
      return "MPI_SUCCESS";
    case MPI_ERR_BUFFER:
      return "MPI_ERR_BUFFER";
    case MPI_ERR_NO_MEM:
      return "MPI_ERR_NO_MEM";
    case MPI_ERR_OTHER:
      return "MPI_ERR_OTHER";
    default:
      return "another class";
  }
}

static float* floats(void) {
  float* data = fake_device_allocate(kCount * sizeof(float));
  for (int at = 0; at < kCount; ++at) data[at] = (float)(rank * kCount + at);
  return data;
}

static int is_from_peer(const float* data, int stride) {
  for (int at = 0; at < kCount; ++at) {
    const int sent = at % stride == 0;
    if (data[at] != (float)((sent ? peer : rank) * kCount + at)) return 0;
  }
  return 1;
}

// Dense, and every second float of a vector.
static void messages(void) {
  MPI_Datatype every_second;
  MPI_Type_vector(kCount / 2, 1, 2, MPI_FLOAT, &every_second);
  MPI_Type_commit(&every_second);
  int right = 1, sends = MPI_SUCCESS, receives = MPI_SUCCESS;
  for (int stride = 1; stride <= 2; ++stride) {
    float *out = floats(), *in = floats();
    MPI_Request requests[2];
    const int count = stride == 1 ? kCount : 1;
    const MPI_Datatype type = stride == 1 ? MPI_FLOAT : every_second;
    receives |= MPI_Irecv(in, count, type, peer, 0, MPI_COMM_WORLD, &requests[0]);
    sends |= MPI_Isend(out, count, type, peer, 0, MPI_COMM_WORLD, &requests[1]);
    receives |= MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    right = right && is_from_peer(in, stride);
  }
  MPI_Type_free(&every_second);
  printf("send %d receive %d data %s\n", sends, receives, right ? "right" : "wrong");
}

static void lost(void) {
  float *out = floats(), *in = floats();
  float* host = calloc(kCount, sizeof(float));
  MPI_Request requests[2];
  const int sent = MPI_Send(out, kCount, MPI_FLOAT, peer, 0, MPI_COMM_WORLD);
  int received = MPI_Irecv(in, kCount, MPI_FLOAT, peer, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(host, kCount, MPI_FLOAT, peer, 1, MPI_COMM_WORLD, &requests[1]);
  if (received == MPI_SUCCESS) {
    received = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else {
    float* other = calloc(kCount, sizeof(float));
    MPI_Recv(other, kCount, MPI_FLOAT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(other);
  }
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  printf("send %s receive %s\n", name_of(sent), name_of(received));
  free(host);
}

static void unable(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Datatype every_second;
  MPI_Type_vector(kCount / 2, 1, 2, MPI_FLOAT, &every_second);
  MPI_Type_commit(&every_second);
  float *own = floats(), *all = fake_device_allocate((size_t)size * kCount * sizeof(float));
  const int cast = MPI_Bcast(own, 1, every_second, 0, MPI_COMM_WORLD);
  own = floats();
  const int gathered = MPI_Allgather(own, 1, every_second, all, 1, every_second, MPI_COMM_WORLD);
  MPI_Type_free(&every_second);
  const int after = MPI_Allgather(own, kCount, MPI_FLOAT, all, kCount, MPI_FLOAT, MPI_COMM_WORLD);
  int right = after == MPI_SUCCESS;
  for (int at = 0; at < size * kCount; ++at) right = right && all[at] == (float)at;
  printf("rank %d: MPI_Bcast %s MPI_Allgather %s then %s\n", rank, name_of(cast), name_of(gathered),
         right ? "right" : "wrong");
}

static void natives(void) {
  const int counts[] = {kCount / 2, kCount / 2}, places[] = {0, kCount / 2 * (int)sizeof(float)};
  MPI_Datatype every_second;
  MPI_Type_create_resized(MPI_FLOAT, 0, 2 * sizeof(float), &every_second);
  MPI_Type_commit(&every_second);
  const MPI_Datatype dense[] = {MPI_FLOAT, MPI_FLOAT}, spread[] = {MPI_FLOAT, every_second};
  float *in = floats(), *out = fake_device_allocate(2 * kCount * sizeof(float));
  const int gathered = MPI_Allgather(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, MPI_COMM_WORLD);
  const int exchanged = MPI_Alltoallw(in, counts, places, dense, out, counts, places,
                                      rank == 0 ? spread : dense, MPI_COMM_WORLD);
  MPI_Type_free(&every_second);
  printf("MPI_Allgather %s MPI_Alltoallw %s\n", name_of(gathered), name_of(exchanged));
}

// One that fails at its start, and one that has nothing to copy before it is complete.
static void started(void) {
  MPI_Request request;
  float *in = floats(), *out = fake_device_allocate(2 * kCount * sizeof(float));
  float* host = calloc(kCount, sizeof(float));
  int gathered =
      MPI_Iallgather(in, kCount, MPI_FLOAT, out, kCount, MPI_FLOAT, MPI_COMM_WORLD, &request);
  if (gathered == MPI_SUCCESS) gathered = MPI_Wait(&request, MPI_STATUS_IGNORE);
  // Rank 1 has begun before there is anything to receive.
  int ready = 0;
  if (rank == 0) MPI_Recv(&ready, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int begun =
      MPI_Ibcast(rank == 0 ? host : in, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
  if (begun != MPI_SUCCESS) MPI_Ibcast(host, kCount, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Send(&ready, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d: MPI_Iallgather %s MPI_Ibcast %s MPI_Wait %s\n", rank, name_of(gathered),
         name_of(begun), name_of(waited));
  free(host);
}

static void say(const char* call, int error) { printf("%s %s\n", call, name_of(error)); }

static void refused(const char* path) {
  float *gpu = fake_device_address(floats()), host[4] = {0};
  char packed[64];
  int position = 0;
  MPI_Win window;
  MPI_File file;
  say("MPI_Reduce_local", MPI_Reduce_local(host, gpu, 4, MPI_FLOAT, MPI_SUM));
  say("MPI_Unpack",
      MPI_Unpack(packed, sizeof packed, &position, gpu, 4, MPI_FLOAT, MPI_COMM_WORLD));
  say("MPI_Pack", MPI_Pack(gpu, 4, MPI_FLOAT, packed, sizeof packed, &position, MPI_COMM_WORLD));
  say("MPI_Win_create", MPI_Win_create(gpu, sizeof host, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window));
  MPI_Win_create(host, sizeof host, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, window);
  say("MPI_Put", MPI_Put(gpu, 4, MPI_FLOAT, 0, 0, 4, MPI_FLOAT, window));
  say("MPI_Get", MPI_Get(gpu, 4, MPI_FLOAT, 0, 0, 4, MPI_FLOAT, window));
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  say("MPI_File_write", MPI_File_write(file, gpu, 4, MPI_FLOAT, MPI_STATUS_IGNORE));
  say("MPI_File_read_at", MPI_File_read_at(file, 0, gpu, 4, MPI_FLOAT, MPI_STATUS_IGNORE));
  say("MPI_File_write of host memory", MPI_File_write(file, host, 4, MPI_FLOAT, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  peer = 1 - rank;
  if (strcmp(wanted, "messages") == 0) messages();
  if (strcmp(wanted, "lost") == 0) lost();
  if (strcmp(wanted, "unable") == 0) unable();
  if (strcmp(wanted, "natives") == 0) natives();
  if (strcmp(wanted, "started") == 0) started();
  if (strcmp(wanted, "refused") == 0 && rank == 0) refused(argv[2]);
  MPI_Finalize();
  return 0;
}
