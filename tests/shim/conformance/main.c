// conformance --list, or conformance FAMILY under mpirun: a line "PASS case" or "FAIL case" each.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"

enum { kCaseSeconds = 20 };

extern const Family sends_family, receives_family, completions_family, persistent_family,
    probes_family, stash_family, datatypes_family, truncation_family, errors_family,
    wildcards_family, communicators_family, threads_family, collectives_family;

static const Family* const kFamilies[] = {
    &sends_family,      &receives_family,  &completions_family,   &persistent_family,
    &probes_family,     &stash_family,     &datatypes_family,     &truncation_family,
    &errors_family,     &wildcards_family, &communicators_family, &threads_family,
    &collectives_family};
enum { kFamilyCount = sizeof kFamilies / sizeof kFamilies[0] };

MPI_Comm comm;
int rank, size;

static const char* running = "";
static int failures;

void check(int condition_holds, const char* condition, const char* file, int line) {
  if (condition_holds) return;
  ++failures;
  const char* slash = strrchr(file, '/');
  printf("  %s: rank %d, %s:%d: %s\n", running, rank, slash ? slash + 1 : file, line, condition);
  fflush(stdout);
}

void fill(float* data, int count, int seed) {
  for (int at = 0; at < count; ++at) data[at] = (float)(seed * 4096 + at % 4096);
}

int holds(const float* data, int count, int seed) {
  for (int at = 0; at < count; ++at) {
    if (data[at] != (float)(seed * 4096 + at % 4096)) return 0;
  }
  return 1;
}

int is_status(const MPI_Status* status, int source, int tag, int count) {
  int elements = -1;
  MPI_Get_count(status, MPI_FLOAT, &elements);
  return status->MPI_SOURCE == source && status->MPI_TAG == tag && elements == count;
}

void* bytes(size_t count) { return allocate(count + 1); }

float* floats(int count) { return bytes((size_t)count * sizeof(float)); }

void meet(void) { MPI_Barrier(comm); }

static void on_hang(int signal) {
  (void)signal;
  char line[128];
  const int length = snprintf(line, sizeof line, "HANG %s on rank %d\n", running, rank);
  if (write(STDOUT_FILENO, line, (size_t)length) < 0) _exit(2);
  _exit(1);
}

// One case on every rank; its verdict is theirs together.
static int run_case(const Case* one) {
  running = one->name;
  failures = 0;
  alarm(kCaseSeconds);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  one->run();
  int total = 0;
  MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  alarm(0);
  release_all();
  if (rank == 0) printf("%s %s\n", total == 0 ? "PASS" : "FAIL", one->name);
  fflush(stdout);
  return total;
}

static int run_family(const Family* family, int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  if (family->threads) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  signal(SIGALRM, on_hang);
  int bad = size != family->ranks || (family->threads && provided < MPI_THREAD_MULTIPLE);
  if (bad)
    printf("%s wants %d ranks and threads %d\n", family->name, family->ranks, family->threads);
  for (int at = 0; at < family->count && size == family->ranks; ++at) {
    if (argc < 3 || strcmp(argv[2], family->cases[at].name) == 0)
      bad += run_case(&family->cases[at]);
  }
  MPI_Finalize();
  return bad != 0;
}

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "";
  for (int at = 0; at < kFamilyCount; ++at) {
    const Family* family = kFamilies[at];
    if (strcmp(wanted, family->name) == 0) return run_family(family, argc, argv);
    for (int each = 0; each < family->count && strcmp(wanted, "--list") == 0; ++each) {
      printf("%s %d %s\n", family->name, family->ranks, family->cases[each].name);
    }
  }
  return strcmp(wanted, "--list") != 0;
}
