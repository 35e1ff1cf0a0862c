// How receives find their messages: probes, wildcards, the process itself, and receives that are
// taken back.
#include "small_calls.h"

int batch_probe(Run* run) {
  int calls = 0;
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request sent;
    MPI_Status status;
    int count = 0;
    MPI_Isend(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &sent);
    if (at % 2) {
      for (int found = 0; !found; ++calls) {
        MPI_Iprobe(MPI_ANY_SOURCE, at, run->comm, &found, &status);
      }
    } else {
      MPI_Probe(run->partner, MPI_ANY_TAG, run->comm, &status);
      ++calls;
    }
    MPI_Get_count(&status, MPI_FLOAT, &count);
    MPI_Recv(received_at(run, at), count, MPI_FLOAT, status.MPI_SOURCE, status.MPI_TAG, run->comm,
             MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    calls += 4;
  }
  return calls;
}

int batch_mprobe(Run* run) {
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request sent;
    MPI_Message message;
    MPI_Status status;
    int count = 0;
    MPI_Isend(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &sent);
    MPI_Mprobe(MPI_ANY_SOURCE, at, run->comm, &message, &status);
    MPI_Get_count(&status, MPI_FLOAT, &count);
    MPI_Mrecv(received_at(run, at), count, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  return 5 * kMessages;
}

int batch_any_source(Run* run) {
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request sent;
    MPI_Status status;
    MPI_Isend(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &sent);
    MPI_Recv(received_at(run, at), run->floats, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, run->comm,
             &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  return 3 * kMessages;
}

int batch_self(Run* run) {
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request received;
    MPI_Irecv(received_at(run, at), run->floats, MPI_FLOAT, 0, at, MPI_COMM_SELF, &received);
    MPI_Send(sent_at(run, at), run->floats, MPI_FLOAT, 0, at, MPI_COMM_SELF);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
  }
  return 3 * kMessages;
}

// Receives that nobody sends to.
int batch_cancel(Run* run) {
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request received;
    MPI_Status status;
    int is_cancelled = 0;
    MPI_Irecv(received_at(run, at), run->floats, MPI_FLOAT, run->partner, kThousands + at,
              run->comm, &received);
    MPI_Cancel(&received);
    MPI_Wait(&received, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
  }
  return 4 * kMessages;
}

int batch_get_status(Run* run) {
  int calls = 0;
  for (int at = 0; at < kMessages; ++at) {
    MPI_Request received, sent;
    MPI_Irecv(received_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &received);
    MPI_Isend(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, run->comm, &sent);
    for (int done = 0; !done; ++calls) {
      MPI_Status status;
      MPI_Request_get_status(received, &done, &status);
    }
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Request_free(&sent);
    calls += 4;
  }
  return calls;
}

// Objects that programs make and free in each step: communicators, datatypes, packed buffers.

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
