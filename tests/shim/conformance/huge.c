// Messages above 2 GiB, and types that reach further than that. Each case needs some 10 GiB.
#include "conformance.h"

enum { kTag = 5, kChunk = 1 << 20 };

// 2 GiB and a few values, which no 32-bit number of bytes can say.
static const MPI_Count kDoubles = (1LL << 28) + 7;
static const MPI_Count kFloats = (1LL << 29) + 11;

// Long runs, so that every codec shrinks them; the number of a run is part of every value.
static double value_at(MPI_Count at) { return (double)(at >> 12) + 0.5; }

static void fill_doubles(double* data) {
  for (MPI_Count at = 0; at < kDoubles; ++at) data[at] = value_at(at);
}

static int holds_doubles(const double* data) {
  MPI_Count wrong = 0;
  for (MPI_Count at = 0; at < kDoubles; ++at) wrong += data[at] != value_at(at);
  return wrong == 0;
}

static float float_at(MPI_Count at) { return (float)(at >> 13); }

static float* huge_floats(void) {
  float* data = bytes((size_t)kFloats * sizeof(float));
  for (MPI_Count at = 0; at < kFloats && rank == 0; ++at) data[at] = float_at(at);
  return data;
}

static int holds_floats(const float* data) {
  MPI_Count wrong = 0;
  for (MPI_Count at = 0; at < kFloats; ++at) wrong += data[at] != float_at(at);
  return wrong == 0;
}

static int is_huge(const MPI_Status* status, MPI_Datatype type, MPI_Count count) {
  int counted = 0;
  MPI_Count elements = 0;
  MPI_Get_count(status, type, &counted);
  MPI_Get_elements_x(status, type, &elements);
  return status->MPI_SOURCE == 0 && status->MPI_TAG == kTag && counted == count &&
         elements == count;
}

static void by_send_and_recv(void) {
  double* data = bytes((size_t)kDoubles * sizeof(double));
  MPI_Status status;
  if (rank == 0) {
    fill_doubles(data);
    MPI_Send(data, (int)kDoubles, MPI_DOUBLE, 1, kTag, comm);
  } else {
    MPI_Recv(data, (int)kDoubles, MPI_DOUBLE, 0, kTag, comm, &status);
    CHECK(is_huge(&status, MPI_DOUBLE, kDoubles) && holds_doubles(data));
  }
}

static void by_isend_and_irecv(void) {
  float* data = huge_floats();
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) MPI_Isend(data, (int)kFloats, MPI_FLOAT, 1, kTag, comm, &request);
  if (rank == 1) MPI_Irecv(data, (int)kFloats, MPI_FLOAT, 0, kTag, comm, &request);
  MPI_Wait(&request, &status);
  if (rank == 1) CHECK(is_huge(&status, MPI_FLOAT, kFloats) && holds_floats(data));
}

static void by_matched_probe(void) {
  float* data = huge_floats();
  MPI_Message message;
  MPI_Status status;
  if (rank == 0) {
    MPI_Send(data, (int)kFloats, MPI_FLOAT, 1, kTag, comm);
  } else {
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
    CHECK(is_huge(&status, MPI_FLOAT, kFloats));
    MPI_Mrecv(data, (int)kFloats, MPI_FLOAT, &message, &status);
    CHECK(is_huge(&status, MPI_FLOAT, kFloats) && holds_floats(data));
  }
}

static void by_persistent_requests(void) {
  float* data = huge_floats();
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) MPI_Send_init(data, (int)kFloats, MPI_FLOAT, 1, kTag, comm, &request);
  if (rank == 1) MPI_Recv_init(data, (int)kFloats, MPI_FLOAT, 0, kTag, comm, &request);
  MPI_Start(&request);
  MPI_Wait(&request, &status);
  MPI_Request_free(&request);
  if (rank == 1) CHECK(is_huge(&status, MPI_FLOAT, kFloats) && holds_floats(data));
}

// A few elements of a large type: 4 MiB of floats each, from 2 GiB and one of them on.
static void by_a_contiguous_type(void) {
  const int kElements = (int)(kFloats / kChunk) + 1;
  float* data = bytes((size_t)kElements * kChunk * sizeof(float));
  MPI_Datatype chunk;
  MPI_Status status;
  int count = 0;
  MPI_Type_contiguous(kChunk, MPI_FLOAT, &chunk);
  MPI_Type_commit(&chunk);
  for (MPI_Count at = 0; at < kFloats && rank == 0; ++at) data[at] = float_at(at);
  if (rank == 0) {
    MPI_Send(data, kElements, chunk, 1, kTag, comm);
  } else {
    MPI_Recv(data, kElements, chunk, 0, kTag, comm, &status);
    MPI_Get_count(&status, chunk, &count);
    CHECK(count == kElements && holds_floats(data));
  }
  MPI_Type_free(&chunk);
}

// Half of the values, over more than 2 GiB of addresses; the gaps stay as they were.
static void by_a_far_reaching_type(void) {
  float* data = huge_floats();
  const int kBlocks = (int)(kFloats / 1024);
  MPI_Datatype every_other;
  MPI_Status status;
  MPI_Count wrong = 0;
  MPI_Type_vector(kBlocks, 512, 1024, MPI_FLOAT, &every_other);
  MPI_Type_commit(&every_other);
  if (rank == 0) {
    MPI_Send(data, 1, every_other, 1, kTag, comm);
  } else {
    MPI_Recv(data, 1, every_other, 0, kTag, comm, &status);
    for (MPI_Count at = 0; at < kBlocks * 1024LL; ++at) {
      wrong += data[at] != (at % 1024 < 512 ? float_at(at) : 0);
    }
    CHECK(wrong == 0);
  }
  MPI_Type_free(&every_other);
}

#if MPI_VERSION >= 4
// More values than an int can count; the last few are marked.
static void by_large_counts(void) {
  const MPI_Count kBytes = (1LL << 31) + 4097;
  char* data = bytes((size_t)kBytes);
  MPI_Status status;
  MPI_Count count = 0, wrong = 0;
  int as_int = 0;
  for (MPI_Count at = 0; at < kBytes && rank == 0; ++at) data[at] = (char)(at >> 20);
  if (rank == 0) {
    MPI_Send_c(data, kBytes, MPI_BYTE, 1, kTag, comm);
  } else {
    MPI_Recv_c(data, kBytes, MPI_BYTE, 0, kTag, comm, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    MPI_Get_count(&status, MPI_BYTE, &as_int);
    CHECK(count == kBytes && as_int == MPI_UNDEFINED);
    for (MPI_Count at = 0; at < kBytes; ++at) wrong += data[at] != (char)(at >> 20);
    CHECK(wrong == 0);
  }
}
#endif

static const Case kCases[] = {
    {"huge_by_send_and_recv", by_send_and_recv},
    {"huge_by_isend_and_irecv", by_isend_and_irecv},
    {"huge_by_matched_probe", by_matched_probe},
    {"huge_by_persistent_requests", by_persistent_requests},
    {"huge_by_a_contiguous_type", by_a_contiguous_type},
    {"huge_by_a_far_reaching_type", by_a_far_reaching_type},
#if MPI_VERSION >= 4
    {"huge_by_large_counts", by_large_counts},
#endif
};
FAMILY(huge, 2, kSlow);
