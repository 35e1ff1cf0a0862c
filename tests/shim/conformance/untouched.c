// Calls that carry data by other means than messages, and share nothing with them: packed data,
// windows, partitioned messages and files. Messages travel meanwhile.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"

enum { kCount = 400, kBytes = kCount * (int)sizeof(float) };

// With the tag that everything here has.
static void exchange(int seed) {
  float *out = floats(kCount), *in = floats(kCount);
  const int other = 1 - rank;
  MPI_Status status;
  fill(out, kCount, rank + seed);
  MPI_Sendrecv(out, kCount, MPI_FLOAT, other, 1, in, kCount, MPI_FLOAT, other, 1, comm, &status);
  CHECK(holds(in, kCount, other + seed) && is_status(&status, other, 1, kCount));
}

// Packed data matches what it was packed from, and the other way round.
static void packed(void) {
  float *data = floats(kCount), *in = floats(kCount);
  int space = 0, position = 0, count = 0;
  MPI_Status status;
  MPI_Pack_size(kCount, MPI_FLOAT, comm, &space);
  char* room = malloc((size_t)space);
  fill(data, kCount, 3);
  MPI_Pack(data, kCount, MPI_FLOAT, room, space, &position, comm);
  for (int way = 0; way < 3; ++way) {
    exchange(way);
    if (rank == 0 && way == 0) MPI_Send(data, kCount, MPI_FLOAT, 1, 1, comm);
    if (rank == 0 && way > 0) MPI_Send(room, position, MPI_PACKED, 1, 1, comm);
    if (rank == 0) continue;
    memset(in, 0, kBytes);
    if (way < 2) {
      memset(room, 0, (size_t)space);
      MPI_Recv(room, space, MPI_PACKED, 0, 1, comm, &status);
      MPI_Get_count(&status, MPI_PACKED, &count);
      CHECK(count == position);
      int at = 0;
      MPI_Unpack(room, count, &at, in, kCount, MPI_FLOAT, comm);
    } else {
      MPI_Recv(in, kCount, MPI_FLOAT, 0, 1, comm, &status);
      CHECK(is_status(&status, 0, 1, kCount));
    }
    CHECK(holds(in, kCount, 3));
  }
  free(room);
}

static void windows(void) {
  float *memory = malloc(kBytes), *out = malloc(kBytes), *in = malloc(kBytes);
  const int other = 1 - rank;
  MPI_Win window;
  MPI_Request request;
  memset(memory, 0, kBytes);
  fill(out, kCount, rank + 5);
  MPI_Win_create(memory, kBytes, sizeof(float), MPI_INFO_NULL, comm, &window);
  MPI_Win_fence(0, window);
  float* arriving = floats(kCount);
  MPI_Irecv(arriving, kCount, MPI_FLOAT, other, 1, comm, &request);
  MPI_Put(out, kCount, MPI_FLOAT, other, 0, kCount, MPI_FLOAT, window);
  MPI_Send(out, kCount, MPI_FLOAT, other, 1, comm);
  MPI_Win_fence(0, window);
  CHECK(holds(memory, kCount, other + 5));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(holds(arriving, kCount, other + 5));
  MPI_Get(in, kCount, MPI_FLOAT, other, 0, kCount, MPI_FLOAT, window);
  MPI_Win_fence(0, window);
  CHECK(holds(in, kCount, rank + 5));
  MPI_Accumulate(out, kCount, MPI_FLOAT, other, 0, kCount, MPI_FLOAT, MPI_SUM, window);
  exchange(6);
  MPI_Win_fence(0, window);
  CHECK(memory[1] == 2 * (float)((other + 5) * 4096 + 1));
  MPI_Win_free(&window);
  free(memory), free(out), free(in);
}

// One file a run, in the working folder's place for such things; gone at the end.
static void files(void) {
  char name[64] = "";
  if (rank == 0) snprintf(name, sizeof name, "/tmp/thinwire_untouched_%ld", (long)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm);
  float *out = malloc(kBytes), *in = malloc(kBytes);
  const MPI_Offset own = (MPI_Offset)rank * kBytes, others = (MPI_Offset)(1 - rank) * kBytes;
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  fill(out, kCount, rank + 7);
  memset(in, 0, kBytes);
  CHECK(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file) == MPI_SUCCESS);
  MPI_File_iwrite_at(file, own, out, kCount, MPI_FLOAT, &request);
  exchange(8);
  MPI_Wait(&request, &status);
  MPI_File_sync(file);
  meet();
  MPI_File_sync(file);
  MPI_File_read_at_all(file, others, in, kCount, MPI_FLOAT, &status);
  CHECK(holds(in, kCount, 1 - rank + 7));
  MPI_File_close(&file);
  free(out), free(in);
}

// Open MPI 5.0 has them, and says MPI 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PARTITIONED {"partitioned_beside_messages", partitioned},
static void partitioned(void) {
  enum { kParts = 4 };
  float* data = calloc(kCount, sizeof(float));
  MPI_Request request;
  MPI_Status status;
  if (rank == 0)
    MPI_Psend_init(data, kParts, kCount / kParts, MPI_FLOAT, 1, 1, comm, MPI_INFO_NULL, &request);
  if (rank == 1)
    MPI_Precv_init(data, kParts, kCount / kParts, MPI_FLOAT, 0, 1, comm, MPI_INFO_NULL, &request);
  for (int round = 0; round < 3; ++round) {
    fill(data, kCount, rank == 0 ? round + 1 : 0);
    MPI_Start(&request);
    for (int part = kParts - 1; part >= 0; --part) {
      exchange(part);
      if (rank == 0) MPI_Pready(part, request);
    }
    for (int arrived = 0; rank == 1 && !arrived;) MPI_Parrived(request, 0, &arrived);
    MPI_Wait(&request, &status);
    CHECK(holds(data, kCount, round + 1));
  }
  MPI_Request_free(&request);
  free(data);
}
#else
#define PARTITIONED
#endif

static const Case kCases[] = {{"packed_data", packed},
                              {"windows_beside_messages", windows},
                              {"files_beside_messages", files},
                              PARTITIONED};
FAMILY(untouched, 2, 0);
