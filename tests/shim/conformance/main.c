// conformance --list [slow], or conformance FAMILY [CASE] under mpirun: a line "PASS case" or
// "FAIL case" each.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"

enum { kCaseSeconds = 20, kSlowCaseSeconds = 300 };

// clang-format off
#define FAMILIES(each) \
  each(sends) each(receives) each(completions) each(persistent) each(probes) \
  each(stash) each(datatypes) each(truncation) each(errors) each(wildcards) \
  each(communicators) each(threads) each(collectives) each(large_counts) \
  each(large_count_types) each(huge) each(sessions) each(dynamic) \
  each(intercommunicators) each(pending) each(error_handlers) each(probing_threads) \
  each(buffers) each(cancels) each(untouched) each(in_place) each(endings) \
  each(unreceived) each(handlers_in_guards) each(freed_types) each(small_stacks)
// clang-format on

#define DECLARE(name) extern const Family name##_family;
FAMILIES(DECLARE)

#define ADDRESS(name) &name##_family,
static const Family* const kFamilies[] = {FAMILIES(ADDRESS)};
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

int failure_count(void) { return failures; }

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

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
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

static int sum_of_the_world(int own) {
  int total = 0;
  MPI_Allreduce(&own, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

// One case on every rank; its verdict is theirs together.
static int run_case(const Family* family, const Case* one) {
  running = one->name;
  failures = 0;
  alarm(family->needs & kSlow ? kSlowCaseSeconds : kCaseSeconds);
  if (family->life == NULL) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  one->run();
  const int total = family->life ? family->life->sum(failures) : sum_of_the_world(failures);
  if (family->life == NULL) MPI_Comm_free(&comm);
  alarm(0);
  release_all();
  if (rank == 0) printf("%s %s\n", total == 0 ? "PASS" : "FAIL", one->name);
  fflush(stdout);
  return total;
}

// 0 if the world is as the family wants it.
static int start_world(const Family* family, int* argc, char*** argv) {
  const int threads = family->needs & kThreadMultiple;
  int provided = MPI_THREAD_SINGLE;
  if (threads) MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  if (!threads) MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == family->ranks && !(threads && provided < MPI_THREAD_MULTIPLE)) return 0;
  printf("%s wants %d ranks%s\n", family->name, family->ranks, threads ? " with threads" : "");
  return 1;
}

// As bounded in time as a case.
static void start_alone(const Life* life) {
  running = "start";
  alarm(kCaseSeconds);
  life->start();
  alarm(0);
}

static int run_family(const Family* family, int argc, char** argv) {
  signal(SIGALRM, on_hang);
  const int unfit = family->life ? 0 : start_world(family, &argc, &argv);
  if (family->life) start_alone(family->life);
  int bad = unfit;
  for (int at = 0; at < family->count && !unfit; ++at) {
    if (argc < 3 || strcmp(argv[2], family->cases[at].name) == 0)
      bad += run_case(family, &family->cases[at]);
  }
  if (family->life) family->life->stop();
  if (!family->life) MPI_Finalize();
  return bad != 0;
}

static void list(int needs) {
  for (int at = 0; at < kFamilyCount; ++at) {
    const Family* family = kFamilies[at];
    for (int each = 0; each < family->count && (family->needs & kSlow) == needs; ++each) {
      printf("%s %d %s\n", family->name, family->ranks, family->cases[each].name);
    }
  }
}

int main(int argc, char** argv) {
  const char *wanted = argc > 1 ? argv[1] : "", *option = argc > 2 ? argv[2] : "";
  if (strcmp(wanted, "--list") == 0) {
    list(strcmp(option, "slow") == 0 ? kSlow : 0);
    return 0;
  }
  if (strcmp(wanted, "--child") == 0) return run_child();
  for (int at = 0; at < kFamilyCount; ++at) {
    if (strcmp(wanted, kFamilies[at]->name) == 0) return run_family(kFamilies[at], argc, argv);
  }
  return 1;
}
