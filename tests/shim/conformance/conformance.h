// A conformance program of plain MPI: many named cases, each of which any MPI must pass. It knows
// nothing of compression; it is run with and without the preloaded library.
#pragma once

#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <stddef.h>

typedef struct Case {
  const char* name;
  void (*run)(void);
} Case;

// Needs of a family: MPI_THREAD_MULTIPLE, or minutes and gigabytes.
enum { kThreadMultiple = 1, kSlow = 2 };

// The start and the end of MPI around the cases of a family, and how their ranks add up failures.
typedef struct Life {
  void (*start)(void);
  int (*sum)(int failures);
  void (*stop)(void);
} Life;

// Cases that run together in one job of `ranks` processes.
typedef struct Family {
  const char* name;
  int ranks;
  int needs;
  const Case* cases;
  int count;
  const Life* life;  // NULL: the world's, which main starts and ends
} Family;

#define FAMILY(family_name, family_ranks, family_needs)                                          \
  const Family family_name##_family = {                                                          \
      #family_name, family_ranks, family_needs, kCases, (int)(sizeof kCases / sizeof kCases[0]), \
      NULL}

// A family whose calls this MPI lacks.
#define NO_CASES(family_name) \
  const Family family_name##_family = {#family_name, 0, 0, NULL, 0, NULL}

// The communicator of a case: its own, a duplicate of MPI_COMM_WORLD.
extern MPI_Comm comm;
extern int rank;
extern int size;

// Notes a failed condition with its file and line; the case goes on, because its peer waits for it.
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
void check(int holds, const char* condition, const char* file, int line);
int failure_count(void);  // of this process, in this case

// Values that no two seeds share below 4096 of them, exact as floats.
void fill(float* data, int count, int seed);
int holds(const float* data, int count, int seed);

// A status of `count` floats from `source` with `tag`.
int is_status(const MPI_Status* status, int source, int tag, int count);

int class_of(int code);

// An array that lives until the end of the case.
float* floats(int count);
void* bytes(size_t count);

// Zeroed memory for such arrays, and the end of all of it.
void* allocate(size_t count);
void release_all(void);

// Waits until the other ranks have come here too; sends of theirs before it may still be under way.
void meet(void);

// Runs a process that was spawned with the argument "--child".
int run_child(void);
