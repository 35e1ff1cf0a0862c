// Derived datatypes: gaps are kept, orders are kept, and a type may be freed while it is in use.
#include <string.h>

#include "conformance.h"

enum { kBlocks = 120, kSpan = 4 * kBlocks };

// Sends `count` of `type` from a span of numbered floats to a span of -1, and checks that those
// places arrived, and no others, that `touched` says.
static void round_trip(MPI_Datatype type, int count, int (*touched)(int place)) {
  float* data = floats(kSpan);
  MPI_Status status;
  for (int way = 0; way < 2; ++way) {
    for (int at = 0; at < kSpan; ++at) data[at] = (float)(rank == 0 ? at : -1);
    MPI_Request request;
    if (rank == 0) {
      if (way == 0) MPI_Send(data, count, type, 1, 1, comm);
      if (way == 1) MPI_Isend(data, count, type, 1, 1, comm, &request);
    } else {
      if (way == 0) MPI_Recv(data, count, type, 0, 1, comm, &status);
      if (way == 1) MPI_Irecv(data, count, type, 0, 1, comm, &request);
    }
    if (way == 1) MPI_Wait(&request, &status);
    if (rank == 0) continue;
    int elements = 0;
    MPI_Get_count(&status, type, &elements);
    CHECK(elements == count);
    for (int at = 0; at < kSpan; ++at) CHECK(data[at] == (float)(touched(at) ? at : -1));
  }
}

static void with_type(MPI_Datatype type, int count, int (*touched)(int)) {
  MPI_Type_commit(&type);
  round_trip(type, count, touched);
  MPI_Type_free(&type);
}

static int first_of_four(int at) { return at % 4 == 0; }
static int first_two_of_four(int at) { return at % 4 < 2; }
static int first_half(int at) { return at < kSpan / 2; }
static int all(int at) { return at >= 0; }

static void vectors(void) {
  MPI_Datatype type;
  MPI_Type_vector(kBlocks, 1, 4, MPI_FLOAT, &type);
  with_type(type, 1, first_of_four);
  MPI_Type_vector(kBlocks, 2, 4, MPI_FLOAT, &type);
  with_type(type, 1, first_two_of_four);
  MPI_Type_create_hvector(kBlocks, 2, 4 * sizeof(float), MPI_FLOAT, &type);
  with_type(type, 1, first_two_of_four);
}

static void contiguous(void) {
  MPI_Datatype four, type;
  MPI_Type_contiguous(4, MPI_FLOAT, &four);
  MPI_Type_contiguous(kBlocks / 2, four, &type);
  MPI_Type_free(&four);
  with_type(type, 1, first_half);
  MPI_Type_contiguous(kSpan / 2, MPI_FLOAT, &type);
  with_type(type, 2, all);
  MPI_Type_dup(MPI_FLOAT, &type);
  with_type(type, kSpan / 2, first_half);
}

static void resized(void) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_FLOAT, 0, 4 * sizeof(float), &type);
  with_type(type, kBlocks, first_of_four);
}

static int inner_block(int at) {
  return at / 24 >= 5 && at / 24 < 15 && at % 24 >= 4 && at % 24 < 16;
}

static void subarray(void) {
  const int sizes[] = {kSpan / 24, 24}, extents[] = {10, 12}, starts[] = {5, 4};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, extents, starts, MPI_ORDER_C, MPI_FLOAT, &type);
  with_type(type, 1, inner_block);
}

// Size equal to extent, and yet not in memory order.
// Bytes that arrive in a type which lays them down in the other order, pair by pair.
static void swapped_bytes(void) {
  enum { kPairs = 1000 };
  unsigned char bytes[2 * kPairs];
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {1, 0};
  MPI_Datatype pair;
  MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &pair);
  MPI_Type_commit(&pair);
  for (int at = 0; at < 2 * kPairs; ++at) bytes[at] = (unsigned char)(rank == 0 ? at * 7 : 0);
  if (rank == 0) MPI_Send(bytes, 2 * kPairs, MPI_BYTE, 1, 1, comm);
  if (rank == 1) {
    MPI_Recv(bytes, kPairs, pair, 0, 1, comm, MPI_STATUS_IGNORE);
    for (int at = 0; at < 2 * kPairs; ++at) CHECK(bytes[at] == (unsigned char)((at ^ 1) * 7));
  }
  MPI_Type_free(&pair);
}

static void permuted(void) {
  int lengths[kBlocks], places[kBlocks];
  float *data = floats(kBlocks), *in = floats(kBlocks);
  MPI_Datatype type;
  for (int at = 0; at < kBlocks; ++at) lengths[at] = 1;
  for (int at = 0; at < kBlocks; ++at) places[at] = kBlocks - 1 - at;
  MPI_Type_indexed(kBlocks, lengths, places, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  fill(data, kBlocks, 1);
  if (rank == 0) {
    MPI_Send(data, 1, type, 1, 1, comm);
    MPI_Send(data, kBlocks, MPI_FLOAT, 1, 2, comm);
  } else {
    MPI_Recv(in, kBlocks, MPI_FLOAT, 0, 1, comm, MPI_STATUS_IGNORE);
    for (int at = 0; at < kBlocks; ++at) CHECK(in[at] == data[kBlocks - 1 - at]);
    MPI_Recv(in, 1, type, 0, 2, comm, MPI_STATUS_IGNORE);
    for (int at = 0; at < kBlocks; ++at) CHECK(in[at] == data[kBlocks - 1 - at]);
  }
  MPI_Type_free(&type);
}

typedef struct Particle {
  float place[3];
  int number;
  double mass;
} Particle;

// Sends structures of one float type, and of several.
static void structs(void) {
  const int lengths[] = {3, 1, 1};
  const MPI_Aint places[] = {offsetof(Particle, place), offsetof(Particle, number),
                             offsetof(Particle, mass)};
  const MPI_Datatype types[] = {MPI_FLOAT, MPI_INT, MPI_DOUBLE};
  Particle* particles = bytes(kBlocks * sizeof(Particle));
  MPI_Datatype whole, floats_only;
  MPI_Type_create_struct(3, lengths, places, types, &whole);
  MPI_Type_create_struct(1, lengths, places, types, &floats_only);
  MPI_Type_create_resized(floats_only, 0, sizeof(Particle), &floats_only);
  MPI_Type_commit(&whole);
  MPI_Type_commit(&floats_only);
  for (int at = 0; at < kBlocks && rank == 0; ++at) {
    particles[at] = (Particle){{(float)at, 1, 2}, at, 0.5 * at};
  }
  if (rank == 0) {
    MPI_Send(particles, kBlocks, floats_only, 1, 1, comm);
    MPI_Send(particles, kBlocks, whole, 1, 2, comm);
  } else {
    MPI_Recv(particles, kBlocks, floats_only, 0, 1, comm, MPI_STATUS_IGNORE);
    CHECK(particles[7].place[0] == 7 && particles[7].number == 0 && particles[7].mass == 0);
    MPI_Recv(particles, kBlocks, whole, 0, 2, comm, MPI_STATUS_IGNORE);
    CHECK(particles[7].place[0] == 7 && particles[7].number == 7 && particles[7].mass == 3.5);
  }
  MPI_Type_free(&whole);
  MPI_Type_free(&floats_only);
}

static void vector_to_floats(void) {
  float* data = floats(kSpan);
  MPI_Datatype type;
  MPI_Status status;
  MPI_Type_vector(kBlocks, 1, 4, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  for (int at = 0; at < kSpan; ++at) data[at] = (float)(rank == 0 ? at : -1);
  if (rank == 0) {
    MPI_Send(data, 1, type, 1, 1, comm);
  } else {
    MPI_Recv(data, kSpan, MPI_FLOAT, 0, 1, comm, &status);
    CHECK(is_status(&status, 0, 1, kBlocks));
    for (int at = 0; at < kBlocks; ++at) CHECK(data[at] == (float)(4 * at));
    CHECK(data[kBlocks] == -1);
  }
  MPI_Type_free(&type);
}

static void freed_in_use(void) {
  float* data = floats(kSpan);
  MPI_Datatype type;
  MPI_Request request;
  MPI_Type_vector(kBlocks, 1, 4, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  for (int at = 0; at < kSpan; ++at) data[at] = (float)(rank == 0 ? at : -1);
  if (rank == 0) MPI_Isend(data, 1, type, 1, 1, comm, &request);
  if (rank == 1) MPI_Irecv(data, 1, type, 0, 1, comm, &request);
  MPI_Type_free(&type);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int at = 0; at < kSpan && rank == 1; ++at) CHECK(data[at] == (float)(at % 4 ? -1 : at));
}

// A message may end in the middle of an element of the receiver's type.
static void partial_last_element(void) {
  enum { kSent = 100 };
  float* data = floats(kSpan);
  MPI_Datatype type;
  MPI_Status status;
  int count = 0, elements = 0;
  MPI_Type_vector(8, 1, 2, MPI_FLOAT, &type);  // 8 floats, extent of 15
  MPI_Type_commit(&type);
  for (int at = 0; at < kSpan; ++at) data[at] = (float)(rank == 0 ? at : -1);
  if (rank == 0) {
    MPI_Send(data, kSent, MPI_FLOAT, 1, 1, comm);
  } else {
    MPI_Recv(data, kSpan / 16, type, 0, 1, comm, &status);
    MPI_Get_count(&status, type, &count);
    MPI_Get_elements(&status, type, &elements);
    CHECK(count == MPI_UNDEFINED && elements == kSent);
    for (int at = 0; at < kSent; ++at) CHECK(data[at / 8 * 15 + at % 8 * 2] == (float)at);
    CHECK(data[1] == -1 && data[kSent / 8 * 15 + 4 * 2] == -1);
  }
  MPI_Type_free(&type);
}

static void absolute_addresses(void) {
  float *one = floats(kBlocks), *two = floats(kBlocks);
  const int lengths[] = {kBlocks, kBlocks};
  MPI_Aint places[2];
  MPI_Datatype type;
  MPI_Get_address(one, &places[0]);
  MPI_Get_address(two, &places[1]);
  MPI_Type_create_hindexed(2, lengths, places, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  fill(one, kBlocks, rank == 0 ? 1 : 0);
  fill(two, kBlocks, rank == 0 ? 2 : 0);
  if (rank == 0) MPI_Send(MPI_BOTTOM, 1, type, 1, 1, comm);
  if (rank == 1) MPI_Recv(MPI_BOTTOM, 1, type, 0, 1, comm, MPI_STATUS_IGNORE);
  CHECK(holds(one, kBlocks, 1) && holds(two, kBlocks, 2));
  MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, 1 - rank, 2, 1 - rank, 2, comm, MPI_STATUS_IGNORE);
  CHECK(holds(one, kBlocks, 1) && holds(two, kBlocks, 2));
  MPI_Type_free(&type);
}

// The parts of such a type are predefined and yet not named.
static void parametrised_reals(void) {
  float* data = floats(kSpan);
  MPI_Datatype real, type;
  MPI_Type_create_f90_real(6, 30, &real);
  MPI_Type_vector(kBlocks, 1, 4, real, &type);
  MPI_Type_commit(&type);
  for (int at = 0; at < kSpan; ++at) data[at] = (float)(rank == 0 ? at : -1);
  if (rank == 0) MPI_Send(data, 1, type, 1, 1, comm);
  if (rank == 0) MPI_Send(data, kSpan, real, 1, 2, comm);
  if (rank == 1) {
    MPI_Recv(data, 1, type, 0, 1, comm, MPI_STATUS_IGNORE);
    for (int at = 0; at < kSpan; ++at) CHECK(data[at] == (float)(at % 4 ? -1 : at));
    MPI_Recv(data, kSpan, real, 0, 2, comm, MPI_STATUS_IGNORE);
    CHECK(data[kSpan - 1] == kSpan - 1);
  }
  MPI_Type_free(&type);
}

static void pairs_and_complex(void) {
  struct {
    float value;
    int place;
  }* pairs = bytes(kBlocks * sizeof *pairs);
  if (rank == 0) pairs[5].value = 2.5F;
  if (rank == 0) MPI_Send(pairs, kBlocks, MPI_FLOAT_INT, 1, 1, comm);
  if (rank == 1) MPI_Recv(pairs, kBlocks, MPI_FLOAT_INT, 0, 1, comm, MPI_STATUS_IGNORE);
  CHECK(pairs[5].value == 2.5F);
  float* complex_values = floats(2 * kBlocks);
  fill(complex_values, 2 * kBlocks, rank == 0 ? 3 : 0);
  if (rank == 0) MPI_Send(complex_values, kBlocks, MPI_C_FLOAT_COMPLEX, 1, 2, comm);
  if (rank == 1) {
    MPI_Recv(complex_values, kBlocks, MPI_C_FLOAT_COMPLEX, 0, 2, comm, MPI_STATUS_IGNORE);
  }
  CHECK(holds(complex_values, 2 * kBlocks, 3));
}

// Complex numbers are counted as such, whatever they are made of; every second one of an array.
static void complex_numbers(void) {
  double* data = bytes(4 * kBlocks * sizeof(double));
  MPI_Datatype type;
  MPI_Status status;
  int count = 0, elements = 0;
  MPI_Type_vector(kBlocks, 1, 2, MPI_C_DOUBLE_COMPLEX, &type);
  MPI_Type_commit(&type);
  for (int at = 0; at < 4 * kBlocks; ++at) data[at] = rank == 0 ? at : -1;
  if (rank == 0) {
    MPI_Send(data, 1, type, 1, 1, comm);
    MPI_Send(data, kBlocks, MPI_C_DOUBLE_COMPLEX, 1, 2, comm);
  } else {
    MPI_Recv(data, 1, type, 0, 1, comm, &status);
    MPI_Get_count(&status, type, &count);
    MPI_Get_elements(&status, type, &elements);
    CHECK(count == 1 && elements == kBlocks);
    for (int at = 0; at < 4 * kBlocks; ++at) CHECK(data[at] == (at % 4 < 2 ? at : -1));
    MPI_Recv(data, 2 * kBlocks, MPI_C_DOUBLE_COMPLEX, 0, 2, comm, &status);
    MPI_Get_count(&status, MPI_C_DOUBLE_COMPLEX, &count);
    CHECK(count == kBlocks);
    for (int at = 0; at < 2 * kBlocks; ++at) CHECK(data[at] == at);
  }
  MPI_Type_free(&type);
}

static const Case kCases[] = {
    {"vectors", vectors},
    {"contiguous", contiguous},
    {"resized", resized},
    {"subarray", subarray},
    {"permuted", permuted},
    {"swapped_bytes", swapped_bytes},
    {"structs", structs},
    {"vector_to_floats", vector_to_floats},
    {"type_freed_in_use", freed_in_use},
    {"partial_last_element", partial_last_element},
    {"absolute_addresses", absolute_addresses},
    {"parametrised_reals", parametrised_reals},
    {"pairs_and_complex", pairs_and_complex},
    {"complex_numbers", complex_numbers},
};
FAMILY(datatypes, 2, 0);
