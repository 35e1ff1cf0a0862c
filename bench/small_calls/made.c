// Objects that programs make and free in each step: communicators, datatypes, packed buffers.
#include "small_calls.h"

enum { kMade = 4 };

int batch_communicator(Run* run) {
  for (int at = 0; at < kMade; ++at) {
    MPI_Comm own;
    MPI_Comm_dup(run->comm, &own);
    if (run->rank == 0) *received_at(run, at) = *sent_at(run, at);
    MPI_Bcast(received_at(run, at), run->floats, MPI_FLOAT, 0, own);
    MPI_Comm_free(&own);
  }
  return 3 * kMade;
}

int batch_split(Run* run) {
  for (int at = 0; at < kMade; ++at) {
    MPI_Comm own;
    MPI_Comm_split(run->comm, 0, -run->rank, &own);
    MPI_Allreduce(sent_at(run, at), received_at(run, at), run->floats, MPI_FLOAT, MPI_MAX, own);
    MPI_Comm_free(&own);
  }
  return 3 * kMade;
}

// Every second value of a message, by a type of its own.
int batch_types(Run* run) {
  for (int at = 0; at < kMessages; ++at) {
    MPI_Datatype vector;
    MPI_Request sent;
    MPI_Type_vector(run->floats / 2, 1, 2, MPI_FLOAT, &vector);
    MPI_Type_commit(&vector);
    MPI_Isend(sent_at(run, at), 1, vector, run->partner, at, run->comm, &sent);
    MPI_Recv(received_at(run, at), 1, vector, run->partner, at, run->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Type_free(&vector);
  }
  return 6 * kMessages;
}

int batch_pack(Run* run) {
  const int bytes = run->floats * (int)sizeof(float);
  // After the messages' own places.
  float* const packed = sent_at(run, kThousands);
  float* const arrived = received_at(run, kThousands);
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request sent;
    int place = 0;
    MPI_Pack(sent_at(run, at), run->floats, MPI_FLOAT, packed, bytes, &place, run->comm);
    MPI_Isend(packed, place, MPI_PACKED, run->partner, at, run->comm, &sent);
    MPI_Recv(arrived, bytes, MPI_PACKED, run->partner, at, run->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    place = 0;
    MPI_Unpack(arrived, bytes, &place, received_at(run, at), run->floats, MPI_FLOAT, run->comm);
  }
  return 5 * kMessages;
}
