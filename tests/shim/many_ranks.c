// A job of many ranks that say little: every kind of call, values checked, and what a rank has of
// memory, descriptors and threads while all of them are there. The root prints the figures as JSON:
// the largest of all ranks, and of memory the mean.
//
// shim_many_ranks [FLOATS]    (in each array; 1024 unless named)
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Seconds from the process' begin until MPI_Init has returned, of MPI_Init, of the first calls with
// all ranks, in which cards are asked for, of the same calls again, and of messages round a ring;
// then KiB, and numbers.
enum { kStart, kInit, kFirst, kAgain, kRing, kPrivate, kPss, kDescriptors, kThreads, kWrong, kAll };

static const char* const kNames[] = {"start",       "init",    "first",       "again",   "ring",
                                     "private_kib", "pss_kib", "descriptors", "threads", "wrong"};

static int rank, ranks, count = 1024;
static double found[kAll];

static void expect(int holds, const char* what) {
  if (holds || found[kWrong]++ > 2) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
}

static float value(int from, int at) { return (float)(from % 64 + 1) * 0.25F + (float)(at / 16); }

static int is_array_of(const float* values, int from) {
  for (int at = 0; at < count; ++at) {
    if (values[at] != value(from, at)) return 0;
  }
  return 1;
}

static void fill(float* values, int from) {
  for (int at = 0; at < count; ++at) values[at] = value(from, at);
}

static double since_the_process_began(void) {
  FILE* const file = fopen("/proc/self/stat", "r");
  unsigned long long ticks = 0;
  char text[2048] = "";
  const size_t bytes = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
  if (file != NULL) fclose(file);
  text[bytes] = '\0';
  // The name, which may hold anything, ends with the last bracket.
  char* at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; ++field) at = strchr(at + 1, ' ');
  if (at != NULL) ticks = strtoull(at, NULL, 10);
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 -
         (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

// The sum of the figures of that name.
static double figure_of(const char* path, const char* name) {
  FILE* const file = fopen(path, "r");
  double sum = 0;
  char line[256];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) sum += strtod(line + strlen(name), NULL);
  }
  if (file != NULL) fclose(file);
  return sum;
}

static int descriptors_now(void) {
  DIR* const folder = opendir("/proc/self/fd");
  int descriptors = -1;  // its own
  for (const struct dirent* each; folder != NULL && (each = readdir(folder)) != NULL;) {
    descriptors += each->d_name[0] != '.';
  }
  if (folder != NULL) closedir(folder);
  return descriptors;
}

static void look_at_itself(void) {
  static const char* const kMemory = "/proc/self/smaps_rollup";
  found[kPrivate] = figure_of(kMemory, "Private_Clean:") + figure_of(kMemory, "Private_Dirty:");
  found[kPss] = figure_of(kMemory, "Pss:");
  found[kDescriptors] = descriptors_now();
  found[kThreads] = figure_of("/proc/self/status", "Threads:");
}

static void call_with_all(void) {
  float* const values = malloc(sizeof(float) * (size_t)count);
  float* const sums = malloc(sizeof(float) * (size_t)count);
  int* const all = malloc(sizeof(int) * (size_t)ranks);
  fill(values, rank == 0 ? 7 : rank);
  MPI_Bcast(values, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  expect(is_array_of(values, 7), "a Bcast");
  for (int at = 0; at < count; ++at) values[at] = (float)(at % 4);
  MPI_Allreduce(values, sums, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  int right = 1;
  for (int at = 0; at < count; ++at) right &= sums[at] == (float)(at % 4 * ranks);
  expect(right, "an Allreduce");
  const int own = rank * 3;
  MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  right = 1;
  for (int from = 0; from < ranks; ++from) right &= all[from] == from * 3;
  expect(right, "an Allgather");
  free(values);
  free(sums);
  free(all);
}

static void pass_on(void) {
  float* const out = malloc(sizeof(float) * (size_t)count);
  float* const in = malloc(sizeof(float) * (size_t)count);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  fill(out, rank);
  MPI_Sendrecv(out, count, MPI_FLOAT, next, 0, in, count, MPI_FLOAT, before, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect(is_array_of(in, before), "a message");
  free(out);
  free(in);
}

static void timed(int figure, void (*work)(void)) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work();
  found[figure] = MPI_Wtime() - begin;
}

static void print(void) {
  double most[kAll], sums[kAll];
  MPI_Reduce(found, most, kAll, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(found, sums, kAll, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  most[kWrong] = sums[kWrong];
  printf("{\"ranks\": %d", ranks);
  for (int at = 0; at < kAll; ++at) printf(", \"%s\": %.6g", kNames[at], most[at]);
  printf(", \"mean_private_kib\": %.6g", sums[kPrivate] / ranks);
  printf(", \"mean_pss_kib\": %.6g}\n", sums[kPss] / ranks);
}

int main(int words, char** word) {
  struct timespec begin, end;
  if (words > 1) count = atoi(word[1]);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  MPI_Init(&words, &word);
  clock_gettime(CLOCK_MONOTONIC, &end);
  found[kInit] = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
  found[kStart] = since_the_process_began();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  timed(kFirst, call_with_all);
  timed(kAgain, call_with_all);
  timed(kRing, pass_on);
  MPI_Barrier(MPI_COMM_WORLD);
  look_at_itself();
  MPI_Barrier(MPI_COMM_WORLD);
  print();
  MPI_Finalize();
  return 0;
}
