// Probes: what they report, and that reporting changes nothing.
#include <string.h>

#include "conformance.h"

enum { kCount = 400 };

static void send_floats(int count, int tag, int seed) {
  float* data = floats(count);
  fill(data, count, seed);
  MPI_Send(data, count, MPI_FLOAT, 1, tag, comm);
}

static void expect_floats(int count, int source, int tag, int seed) {
  float* data = floats(kCount);
  MPI_Status status;
  MPI_Recv(data, kCount, MPI_FLOAT, source, tag, comm, &status);
  CHECK(holds(data, count, seed) && is_status(&status, 0, tag == MPI_ANY_TAG ? seed : tag, count));
}

static void iprobe_until_found(int source, int tag, MPI_Status* status) {
  for (int flag = 0; !flag;) MPI_Iprobe(source, tag, comm, &flag, status);
}

// Probing says the size that the receive will say, with or without wildcards, many times over.
static void sizes(void) {
  static const int kSizes[] = {0, 2, 20, kCount};
  static const int kSources[] = {0, MPI_ANY_SOURCE};
  for (int at = 0; at < 4; ++at) {
    for (int way = 0; way < 8; ++way) {
      const int source = kSources[way & 1], tag = way & 2 ? MPI_ANY_TAG : 6;
      MPI_Status status;
      if (rank == 0) {
        send_floats(kSizes[at], 6, 6);
        continue;
      }
      for (int times = 0; times < 3; ++times) {
        memset(&status, 0, sizeof status);
        if (way & 4) MPI_Probe(source, tag, comm, &status);
        if (!(way & 4)) iprobe_until_found(source, tag, &status);
        CHECK(is_status(&status, 0, 6, kSizes[at]));
      }
      expect_floats(kSizes[at], status.MPI_SOURCE, status.MPI_TAG, 6);
    }
  }
}

static void ignored_statuses(void) {
  int flag = 0;
  MPI_Message message;
  float* data = floats(kCount);
  if (rank == 0) {
    for (int seed = 0; seed < 3; ++seed) send_floats(kCount, 6, seed);
    return;
  }
  MPI_Probe(0, 6, comm, MPI_STATUS_IGNORE);
  MPI_Iprobe(0, 6, comm, &flag, MPI_STATUS_IGNORE);
  CHECK(flag);
  expect_floats(kCount, 0, 6, 0);
  MPI_Mprobe(0, 6, comm, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(data, kCount, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
  CHECK(holds(data, kCount, 1));
  for (flag = 0; !flag;) MPI_Improbe(0, 6, comm, &flag, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(data, kCount, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
  CHECK(holds(data, kCount, 2));
}

static void nothing_there(void) {
  int flag = 1;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
  CHECK(!flag);
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
  CHECK(!flag);
}

// A probe of a newer tag must not disturb the order of the older message.
static void older_tag_stays_first(void) {
  MPI_Status status;
  if (rank == 0) {
    send_floats(kCount, 8, 8);
    send_floats(kCount, 9, 9);
    send_floats(kCount, 10, 10);
    return;
  }
  MPI_Probe(0, 9, comm, &status);
  CHECK(is_status(&status, 0, 9, kCount));
  expect_floats(kCount, 0, MPI_ANY_TAG, 8);
  expect_floats(kCount, MPI_ANY_SOURCE, MPI_ANY_TAG, 9);
  expect_floats(kCount, 0, 10, 10);
}

// The same with messages between them that are too small to be eligible.
static void older_small_message_stays_first(void) {
  MPI_Status status;
  if (rank == 0) {
    send_floats(1, 3, 3);
    send_floats(kCount, 4, 4);
    send_floats(2, 5, 5);
    send_floats(kCount, 6, 6);
    return;
  }
  MPI_Probe(0, 6, comm, &status);
  CHECK(is_status(&status, 0, 6, kCount));
  MPI_Probe(0, MPI_ANY_TAG, comm, &status);
  CHECK(is_status(&status, 0, 3, 1));
  expect_floats(1, 0, MPI_ANY_TAG, 3);
  expect_floats(kCount, 0, MPI_ANY_TAG, 4);
  expect_floats(2, 0, MPI_ANY_TAG, 5);
  expect_floats(kCount, 0, MPI_ANY_TAG, 6);
}

static void matched(void) {
  float* data = floats(kCount);
  static const int kSizes[] = {0, 2, 20, kCount};
  for (int at = 0; at < 4; ++at) {
    for (int way = 0; way < 4; ++way) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Request request;
      int flag = 0;
      if (rank == 0) {
        send_floats(kSizes[at], 6, way);
        continue;
      }
      if (way & 1) MPI_Mprobe(0, 6, comm, &message, &status);
      while (!(way & 1) && !flag) {
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
      }
      CHECK(message != MPI_MESSAGE_NULL && is_status(&status, 0, 6, kSizes[at]));
      // A matched message is out of sight of the other probes.
      MPI_Iprobe(0, 6, comm, &flag, MPI_STATUS_IGNORE);
      memset(&status, 0, sizeof status);
      if (way & 2) MPI_Mrecv(data, kCount, MPI_FLOAT, &message, &status);
      if (!(way & 2)) {
        MPI_Imrecv(data, kCount, MPI_FLOAT, &message, &request);
        MPI_Wait(&request, &status);
        CHECK(request == MPI_REQUEST_NULL);
      }
      CHECK(message == MPI_MESSAGE_NULL && holds(data, kSizes[at], way));
      CHECK(is_status(&status, 0, 6, kSizes[at]));
    }
  }
}

// A matched message may wait while later ones of its source are received.
static void matched_and_kept(void) {
  enum { kKept = 10 };
  float* data = floats(kCount);
  MPI_Message messages[kKept];
  MPI_Status status;
  if (rank == 0) {
    for (int at = 0; at <= kKept; ++at) send_floats(kCount, 6, at);
    return;
  }
  for (int at = 0; at < kKept; ++at) {
    MPI_Mprobe(0, 6, comm, &messages[at], &status);
    CHECK(is_status(&status, 0, 6, kCount));
    for (int older = 0; older < at; ++older) CHECK(messages[older] != messages[at]);
  }
  expect_floats(kCount, 0, 6, kKept);
  for (int at = kKept - 1; at >= 0; --at) {
    MPI_Mrecv(data, kCount, MPI_FLOAT, &messages[at], &status);
    CHECK(holds(data, kCount, at));
  }
}

// Raw messages whose lengths are odd; a synchronous sender among them.
static void byte_lengths(void) {
  static const int kLengths[] = {1, 9, 25, 73, 75, 81, 1025, 4097, 4161, 8193, 65537};
  char *data = bytes(1 << 17), *in = bytes(1 << 17);
  for (int at = 0; at < (int)(sizeof kLengths / sizeof kLengths[0]); ++at) {
    const int length = kLengths[at];
    MPI_Status status;
    int count = -1;
    memset(data, at + 1, (size_t)length);
    if (rank == 0) {
      MPI_Send(data, length, MPI_BYTE, 1, at, comm);
      MPI_Ssend(data, length, MPI_BYTE, 1, at, comm);
      continue;
    }
    for (int times = 0; times < 2; ++times) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      CHECK(count == length && status.MPI_TAG == at);
      MPI_Recv(in, count, MPI_BYTE, 0, at, comm, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      CHECK(count == length && memcmp(data, in, (size_t)length) == 0);
    }
  }
}

// Large messages travel in pieces: a probe may see them before they are here.
static void large(void) {
  enum { kLarge = 1 << 20 };
  float* data = floats(kLarge);
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  int flag = 0;
  for (int round = 0; round < 3; ++round) {
    if (rank == 0) {
      fill(data, kLarge, round);
      MPI_Send(data, kLarge, MPI_FLOAT, 1, 1, comm);
      MPI_Send(data, kLarge, MPI_FLOAT, 1, 2, comm);
      continue;
    }
    while (!flag) MPI_Improbe(0, 1, comm, &flag, &message, &status);
    flag = 0;
    MPI_Imrecv(data, kLarge, MPI_FLOAT, &message, &request);
    MPI_Wait(&request, &status);
    CHECK(holds(data, kLarge, round) && is_status(&status, 0, 1, kLarge));
    fill(data, kLarge, 9);
    MPI_Recv(data, kLarge, MPI_FLOAT, 0, 2, comm, &status);
    CHECK(holds(data, kLarge, round) && is_status(&status, 0, 2, kLarge));
  }
}

static const Case kCases[] = {
    {"probed_sizes", sizes},
    {"ignored_statuses", ignored_statuses},
    {"nothing_there", nothing_there},
    {"older_tag_stays_first", older_tag_stays_first},
    {"older_small_message_stays_first", older_small_message_stays_first},
    {"matched", matched},
    {"matched_and_kept", matched_and_kept},
    {"byte_lengths", byte_lengths},
    {"large_probed", large},
};
FAMILY(probes, 2, 0);
