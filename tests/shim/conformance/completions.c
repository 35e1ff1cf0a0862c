// Every call that completes requests, over arrays with everything in them that MPI allows.
#include <stdlib.h>

#include "conformance.h"

// Places 2 and 5 hold no request and an inactive persistent one; the others receive.
enum { kPlaces = 8, kNull = 2, kInactive = 5, kReceives = 6, kCount = 400 };

typedef struct Array {
  MPI_Request requests[kPlaces];
  MPI_Request inactive;
  float* data[kPlaces];
  int completed[kPlaces];
} Array;

static int length_of(int place) { return place % 2 ? 3 : kCount - place; }

static void post(Array* array) {
  for (int at = 0; at < kPlaces; ++at) {
    array->data[at] = floats(kCount);
    array->completed[at] = 0;
    array->requests[at] = MPI_REQUEST_NULL;
    if (at == kNull || at == kInactive) continue;
    MPI_Irecv(array->data[at], kCount, MPI_FLOAT, 0, at, comm, &array->requests[at]);
  }
  MPI_Recv_init(array->data[kInactive], kCount, MPI_FLOAT, 0, 77, comm, &array->inactive);
  array->requests[kInactive] = array->inactive;
}

// In another order than the receives were posted, a few of them only once the receiver asks.
static void feed(void) {
  static const int kOrder[kReceives] = {4, 0, 7, 1, 6, 3};
  float* data = floats(kCount);
  for (int at = 0; at < kReceives; ++at) {
    if (at == 2) meet();
    fill(data, kCount, kOrder[at]);
    MPI_Send(data, length_of(kOrder[at]), MPI_FLOAT, 1, kOrder[at], comm);
  }
}

static void note(Array* array, int place, const MPI_Status* status) {
  CHECK(place >= 0 && place < kPlaces && place != kNull && place != kInactive);
  CHECK(array->completed[place] == 0);
  array->completed[place] = 1;
  CHECK(array->requests[place] == MPI_REQUEST_NULL);
  CHECK(holds(array->data[place], length_of(place), place));
  if (status) CHECK(is_status(status, 0, place, length_of(place)));
}

static void finish(Array* array) {
  for (int at = 0; at < kPlaces; ++at) {
    if (at != kNull && at != kInactive) CHECK(array->completed[at]);
  }
  CHECK(array->requests[kInactive] == array->inactive);
  MPI_Request_free(&array->inactive);
  CHECK(array->inactive == MPI_REQUEST_NULL);
}

// `ignored` is 1 for the round that passes MPI_STATUS(ES)_IGNORE.
typedef void (*Complete)(Array* array, int ignored);

static void both_ways(Complete complete) {
  for (int ignored = 0; ignored < 2; ++ignored) {
    Array array;
    if (rank == 0) {
      meet();
      feed();
    } else {
      post(&array);
      meet();
      meet();
      complete(&array, ignored);
      finish(&array);
    }
  }
}

static void by_wait(Array* array, int ignored) {
  for (int at = 0; at < kPlaces; ++at) {
    MPI_Status status;
    CHECK(MPI_Wait(&array->requests[at], ignored ? MPI_STATUS_IGNORE : &status) == MPI_SUCCESS);
    if (at == kNull || at == kInactive) {
      if (!ignored) CHECK(is_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
    } else {
      note(array, at, ignored ? NULL : &status);
    }
  }
}

static void by_test(Array* array, int ignored) {
  for (int at = kPlaces - 1; at >= 0; --at) {
    MPI_Status status;
    int done = 0;
    while (!done) MPI_Test(&array->requests[at], &done, ignored ? MPI_STATUS_IGNORE : &status);
    if (at == kNull || at == kInactive) {
      if (!ignored) CHECK(is_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
    } else {
      note(array, at, ignored ? NULL : &status);
    }
  }
}

static void note_all(Array* array, const MPI_Status* statuses) {
  for (int at = 0; at < kPlaces; ++at) {
    if (at != kNull && at != kInactive) {
      note(array, at, statuses ? &statuses[at] : NULL);
    } else if (statuses) {
      CHECK(is_status(&statuses[at], MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
    }
  }
}

static void by_waitall(Array* array, int ignored) {
  MPI_Status statuses[kPlaces];
  // No error: the calls leave this field alone.
  for (int at = 0; at < kPlaces; ++at) statuses[at].MPI_ERROR = 4711;
  CHECK(MPI_Waitall(kPlaces, array->requests, ignored ? MPI_STATUSES_IGNORE : statuses) ==
        MPI_SUCCESS);
  note_all(array, ignored ? NULL : statuses);
}

static void by_testall(Array* array, int ignored) {
  MPI_Status statuses[kPlaces];
  int done = 0;
  while (!done) {
    MPI_Testall(kPlaces, array->requests, &done, ignored ? MPI_STATUSES_IGNORE : statuses);
    if (!done) {
      for (int at = 0; at < kPlaces; ++at) {
        CHECK((array->requests[at] == MPI_REQUEST_NULL) == (at == kNull));
      }
    }
  }
  note_all(array, ignored ? NULL : statuses);
}

static void by_waitany(Array* array, int ignored) {
  int index = 0;
  MPI_Status status;
  for (int at = 0; at < kReceives; ++at) {
    MPI_Waitany(kPlaces, array->requests, &index, ignored ? MPI_STATUS_IGNORE : &status);
    note(array, index, ignored ? NULL : &status);
  }
  MPI_Waitany(kPlaces, array->requests, &index, ignored ? MPI_STATUS_IGNORE : &status);
  CHECK(index == MPI_UNDEFINED);
  if (!ignored) CHECK(is_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
}

static void by_testany(Array* array, int ignored) {
  int index = 0, done = 0;
  MPI_Status status;
  for (int at = 0; at < kReceives; at += done != 0) {
    MPI_Testany(kPlaces, array->requests, &index, &done, ignored ? MPI_STATUS_IGNORE : &status);
    if (done) note(array, index, ignored ? NULL : &status);
  }
  MPI_Testany(kPlaces, array->requests, &index, &done, ignored ? MPI_STATUS_IGNORE : &status);
  CHECK(done && index == MPI_UNDEFINED);
  if (!ignored) CHECK(is_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
}

typedef int (*CompleteSome)(int, MPI_Request[], int*, int[], MPI_Status[]);

static void by_some(CompleteSome call, Array* array, int ignored) {
  int completed = 0, indices[kPlaces];
  MPI_Status statuses[kPlaces];
  for (int at = 0; at < kReceives; at += completed) {
    call(kPlaces, array->requests, &completed, indices, ignored ? MPI_STATUSES_IGNORE : statuses);
    CHECK(completed >= 0 && completed <= kReceives - at);
    if (completed < 0 || completed > kReceives - at) return;
    for (int each = 0; each < completed; ++each) {
      note(array, indices[each], ignored ? NULL : &statuses[each]);
    }
  }
  call(kPlaces, array->requests, &completed, indices, ignored ? MPI_STATUSES_IGNORE : statuses);
  CHECK(completed == MPI_UNDEFINED);
}

static void by_waitsome(Array* array, int ignored) { by_some(MPI_Waitsome, array, ignored); }
static void by_testsome(Array* array, int ignored) { by_some(MPI_Testsome, array, ignored); }

// The status may be asked for any number of times before the request is completed.
static void by_get_status(Array* array, int ignored) {
  for (int at = 0; at < kPlaces; ++at) {
    MPI_Status status;
    const MPI_Request before = array->requests[at];
    for (int times = 0; times < 3; ++times) {
      int done = 0;
      while (!done) {
        MPI_Request_get_status(array->requests[at], &done, ignored ? MPI_STATUS_IGNORE : &status);
      }
      CHECK(array->requests[at] == before);
      if (at == kNull || at == kInactive) continue;
      CHECK(holds(array->data[at], length_of(at), at));
      if (!ignored) CHECK(is_status(&status, 0, at, length_of(at)));
    }
    // The program may do with its buffer what it likes now.
    if (at != kNull && at != kInactive) array->data[at][0] = -1;
  }
  MPI_Status statuses[kPlaces];
  MPI_Waitall(kPlaces, array->requests, statuses);
  for (int at = 0; at < kPlaces; ++at) {
    if (at == kNull || at == kInactive) continue;
    CHECK(array->data[at][0] == -1 && is_status(&statuses[at], 0, at, length_of(at)));
    array->completed[at] = 1;
  }
}

static void wait_one(void) { both_ways(by_wait); }
static void test_one(void) { both_ways(by_test); }
static void wait_all(void) { both_ways(by_waitall); }
static void test_all(void) { both_ways(by_testall); }
static void wait_any(void) { both_ways(by_waitany); }
static void test_any(void) { both_ways(by_testany); }
static void wait_some(void) { both_ways(by_waitsome); }
static void test_some(void) { both_ways(by_testsome); }
static void get_status(void) { both_ways(by_get_status); }

static void nothing_to_complete(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  int index = 0, done = 0, indices[2];
  CHECK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Waitall(2, requests, statuses) == MPI_SUCCESS);
  CHECK(is_status(&statuses[1], MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
  CHECK(MPI_Testall(0, NULL, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS && done);
  CHECK(MPI_Waitany(2, requests, &index, statuses) == MPI_SUCCESS && index == MPI_UNDEFINED);
  CHECK(MPI_Waitsome(2, requests, &done, indices, statuses) == MPI_SUCCESS);
  CHECK(done == MPI_UNDEFINED);
}

// Non-blocking collectives share arrays with messages.
static void beside_a_collective(void) {
  MPI_Request requests[3];
  float *data = floats(kCount), *sum = floats(kCount), *own = floats(kCount);
  fill(own, kCount, 1);
  if (rank == 0) fill(data, kCount, 3);
  MPI_Ibarrier(comm, &requests[0]);
  if (rank == 0) MPI_Isend(data, kCount, MPI_FLOAT, 1, 0, comm, &requests[1]);
  if (rank == 1) MPI_Irecv(data, kCount, MPI_FLOAT, 0, 0, comm, &requests[1]);
  MPI_Iallreduce(own, sum, kCount, MPI_FLOAT, MPI_SUM, comm, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK(holds(data, kCount, 3) && sum[5] == 2 * own[5]);
}

static const Case kCases[] = {
    {"wait", wait_one},
    {"test", test_one},
    {"waitall", wait_all},
    {"testall", test_all},
    {"waitany", wait_any},
    {"testany", test_any},
    {"waitsome", wait_some},
    {"testsome", test_some},
    {"request_get_status", get_status},
    {"nothing_to_complete", nothing_to_complete},
    {"beside_a_collective", beside_a_collective},
};
FAMILY(completions, 2, 0);
