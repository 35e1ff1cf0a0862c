// Three ranks: receives from any source, and a ring.
#include "conformance.h"

enum { kCount = 300, kMessages = 60 };

static int length_of(int at) { return at % 3 == 0 ? 4 : at % 3 == 1 ? 25 : kCount; }

static void send_series(int to) {
  float* data = floats(kCount);
  for (int at = 0; at < kMessages; ++at) {
    fill(data, kCount, 100 * rank + at);
    MPI_Send(data, length_of(at), MPI_FLOAT, to, at % 4, comm);
  }
}

// Whatever the order between sources, each source's own messages come in order.
static void any_source(void) {
  float* data = floats(kCount);
  int next[3] = {0, 0, 0};
  if (rank != 0) {
    send_series(0);
    return;
  }
  for (int at = 0; at < 2 * kMessages; ++at) {
    MPI_Status status;
    MPI_Recv(data, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    const int source = status.MPI_SOURCE;
    CHECK(source == 1 || source == 2);
    const int number = next[source]++;
    CHECK(is_status(&status, source, number % 4, length_of(number)));
    CHECK(holds(data, length_of(number), 100 * source + number));
  }
  CHECK(next[1] == kMessages && next[2] == kMessages);
}

static void any_source_with_a_tag(void) {
  float* data = floats(kCount);
  int next[3] = {0, 0, 0};
  if (rank != 0) {
    send_series(0);
    return;
  }
  for (int tag = 3; tag >= 0; --tag) {
    next[1] = next[2] = tag;
    for (int at = 0; at < 2 * kMessages / 4; ++at) {
      MPI_Status status;
      MPI_Recv(data, kCount, MPI_FLOAT, MPI_ANY_SOURCE, tag, comm, &status);
      const int number = next[status.MPI_SOURCE];
      next[status.MPI_SOURCE] += 4;
      CHECK(holds(data, length_of(number), 100 * status.MPI_SOURCE + number));
    }
  }
}

static void probed_first(void) {
  float* data = floats(kCount);
  int next[3] = {0, 0, 0};
  if (rank != 0) {
    send_series(0);
    return;
  }
  for (int at = 0; at < 2 * kMessages; ++at) {
    MPI_Status seen, status;
    MPI_Message message;
    int count = 0;
    if (at % 2) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &seen);
      MPI_Get_count(&seen, MPI_FLOAT, &count);
      MPI_Recv(data, count, MPI_FLOAT, seen.MPI_SOURCE, seen.MPI_TAG, comm, &status);
    } else {
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &seen);
      MPI_Get_count(&seen, MPI_FLOAT, &count);
      MPI_Mrecv(data, count, MPI_FLOAT, &message, &status);
    }
    const int number = next[status.MPI_SOURCE]++;
    CHECK(count == length_of(number));
    CHECK(is_status(&status, seen.MPI_SOURCE, number % 4, count));
    CHECK(holds(data, count, 100 * status.MPI_SOURCE + number));
  }
}

static void posted_from_any_source(void) {
  float* data = floats(2 * kMessages * kCount);
  MPI_Request requests[2 * kMessages];
  MPI_Status statuses[2 * kMessages];
  int next[3] = {0, 0, 0};
  if (rank != 0) {
    meet();
    send_series(0);
    return;
  }
  for (int at = 0; at < 2 * kMessages; ++at) {
    MPI_Irecv(data + at * kCount, kCount, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
              &requests[at]);
  }
  meet();
  MPI_Waitall(2 * kMessages, requests, statuses);
  for (int at = 0; at < 2 * kMessages; ++at) {
    const int source = statuses[at].MPI_SOURCE, number = next[source]++;
    CHECK(is_status(&statuses[at], source, number % 4, length_of(number)));
    CHECK(holds(data + at * kCount, length_of(number), 100 * source + number));
  }
}

typedef int (*CompleteSome)(int, MPI_Request[], int*, int[], MPI_Status[]);

// Each rank passes on what it got; the messages have gone round when they are home again.
static void ring_by(CompleteSome call) {
  float *out = floats(kCount), *in = floats(kCount);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  fill(out, kCount, rank);
  for (int step = 1; step <= 10 * size; ++step) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int left_to_do = 2, done = 0, indices[2];
    MPI_Irecv(in, kCount, MPI_FLOAT, left, step, comm, &requests[0]);
    MPI_Isend(out, kCount, MPI_FLOAT, right, step, comm, &requests[1]);
    while (left_to_do > 0) {
      call(2, requests, &done, indices, statuses);
      for (int at = 0; at < done; ++at) {
        if (indices[at] == 0) CHECK(is_status(&statuses[at], left, step, kCount));
      }
      left_to_do -= done;
    }
    float* swap = out;
    out = in;
    in = swap;
  }
  CHECK(holds(out, kCount, rank));
}

static void ring_waitsome(void) { ring_by(MPI_Waitsome); }
static void ring_testsome(void) { ring_by(MPI_Testsome); }

static const Case kCases[] = {
    {"any_source", any_source},
    {"any_source_with_a_tag", any_source_with_a_tag},
    {"any_source_probed_first", probed_first},
    {"posted_from_any_source", posted_from_any_source},
    {"ring_waitsome", ring_waitsome},
    {"ring_testsome", ring_testsome},
};
FAMILY(wildcards, 3, 0);
