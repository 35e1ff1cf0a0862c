// Patterns of small calls: what each takes natively and under a preload library, which has nothing
// to compress there.
#pragma once

#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stdbool.h>

enum { kMessages = 26, kThousands = 2000, kThreads = 3 };

// The means of a pattern: messages of `floats` values to and from a partner, which is the process
// itself if it is alone. Message `at` leaves from place `at` of `sent` and arrives in that of
// `received`.
typedef struct {
  MPI_Comm comm;
  int rank, size, partner;
  int floats;
  float* sent;
  float* received;
  MPI_Request* requests;
  MPI_Status* statuses;
  int* indices;
  MPI_Win window;
  MPI_Comm of_threads[kThreads];
  MPI_Request persistent[2 * kMessages];
  MPI_Request in_parts[2];
} Run;

typedef struct {
  const char* name;
  int (*batch)(Run*);  // Returns how many MPI calls it made.
  int messages;        // whose arrival is checked
  bool needs_threads;
} Pattern;

static inline float* sent_at(const Run* run, int at) { return run->sent + (long)at * run->floats; }
static inline float* received_at(const Run* run, int at) {
  return run->received + (long)at * run->floats;
}

// Starts `count` receives and as many sends: requests[0..count) are the receives.
static inline void start_messages(Run* run, MPI_Comm comm, int first, int count) {
  for (int at = first; at < first + count; ++at) {
    MPI_Irecv(received_at(run, at), run->floats, MPI_FLOAT, run->partner, at, comm,
              run->requests + 2 * first + at - first);
  }
  for (int at = first; at < first + count; ++at) {
    MPI_Isend(sent_at(run, at), run->floats, MPI_FLOAT, run->partner, at, comm,
              run->requests + 2 * first + count + at - first);
  }
}

int batch_halo(Run* run);
int batch_waitany(Run* run);
int batch_waitsome(Run* run);
int batch_testany(Run* run);
int batch_testsome(Run* run);
int batch_testall(Run* run);
int batch_one(Run* run);
int batch_persistent(Run* run);
int batch_persistent_any(Run* run);
int batch_partitioned(Run* run);
int batch_thousands(Run* run);
int batch_sendrecv(Run* run);
int batch_modes(Run* run);

int batch_probe(Run* run);
int batch_mprobe(Run* run);
int batch_any_source(Run* run);
int batch_self(Run* run);
int batch_cancel(Run* run);
int batch_get_status(Run* run);

int batch_communicator(Run* run);
int batch_split(Run* run);
int batch_types(Run* run);
int batch_pack(Run* run);
int batch_one_sided(Run* run);
int batch_collectives(Run* run);
int batch_started_collectives(Run* run);
int batch_threads(Run* run);
