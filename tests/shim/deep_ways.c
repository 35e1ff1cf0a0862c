// deep_ways WAY MODULE [LIBRARY]: of two ranks. Rank 1 receives in a module that it opens with
// RTLD_DEEPBIND: by a function that the module's constructor has registered ("registers"), that the
// module looks up in LIBRARY ("looks-up") or in a module that it opens itself ("opens"), or that
// was opened while another thread looked something up ("beside"). "next": in a linked library, by
// RTLD_NEXT. Of one rank: "alone": the module is of another MPI; "costs": what opening again takes.
#define _GNU_SOURCE
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { kCount = 1 << 17, kRounds = 4, kTimes = 1000 };

typedef int (*Receive)(float*, int, MPI_Datatype, MPI_Comm);

int next_receive(float* into, int count, MPI_Datatype type, MPI_Comm comm);
void host_register(Receive receive);
extern const char* host_library;

static float sent[kCount], got[kCount];
static Receive registered;
static atomic_int is_begun, is_over;
const char* host_library;

void host_register(Receive receive) { registered = receive; }

static void* look_up(void* nothing) {
  while (!is_over) {
    dlsym(RTLD_DEFAULT, "getpid");
    is_begun = 1;
  }
  return nothing;
}

static void* open_module(const char* file, int beside) {
  pthread_t thread;
  if (beside) pthread_create(&thread, NULL, look_up, NULL);
  while (beside && !is_begun) continue;
  void* const module = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  is_over = 1;
  if (beside) pthread_join(thread, NULL);
  if (module == NULL) fprintf(stderr, "%s\n", dlerror());
  return module;
}

static Receive receive_by(const char* way, const char* file) {
  Receive receive = NULL;
  const char* const name = strcmp(way, "looks-up") == 0 ? "receive_looked_up"
                           : strcmp(way, "opens") == 0  ? "receive_in_another"
                                                        : "receive_in_plugin";
  if (strcmp(way, "next") == 0) return next_receive;
  void* const module = open_module(file, strcmp(way, "beside") == 0);
  if (module == NULL || strcmp(way, "registers") == 0) return registered;
  void* const found = dlsym(module, name);
  memcpy(&receive, &found, sizeof found);
  return receive;
}

static int works_alone(const char* file) {
  int (*works)(void) = NULL;
  void* const module = open_module(file, 0);
  void* const found = module == NULL ? NULL : dlsym(module, "works_alone");
  memcpy(&works, &found, sizeof found);
  return works != NULL && works();
}

// Natively 0.2 microseconds; a look at all that is loaded takes hundreds.
static int costs_little(const char* file) {
  if (open_module(file, 0) == NULL) return 0;
  const double start = MPI_Wtime();
  for (int time = 0; time < kTimes; ++time) {
    void* const module = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    dlsym(module, "works_alone");
    dlclose(module);
  }
  const double each = (MPI_Wtime() - start) / kTimes;
  if (each >= 4e-5) fprintf(stderr, "%.1f microseconds each\n", 1e6 * each);
  return each < 4e-5;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int rank = 0, failed = 0;
  host_library = argc > 3 ? argv[3] : NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const MPI_Comm world = MPI_COMM_WORLD;
  const int alone = strcmp(argv[1], "alone") == 0, costs = strcmp(argv[1], "costs") == 0;
  for (int at = 0; at < kCount; ++at) sent[at] = (float)(at / 32);
  const Receive receive = rank == 1 ? receive_by(argv[1], argv[2]) : NULL;
  failed = rank == 1 && receive == NULL;
  if (alone) failed |= !works_alone(argv[2]);
  if (costs) failed |= !costs_little(argv[2]);
  for (int round = 0; round < kRounds && !failed && !alone && !costs; ++round) {
    if (rank == 0) MPI_Send(sent, kCount, MPI_FLOAT, 1, 5, world);
    if (rank == 1) failed |= receive(got, kCount, MPI_FLOAT, world) != MPI_SUCCESS;
    if (rank == 1) failed |= memcmp(sent, got, sizeof got) != 0;
    memset(got, 0, sizeof got);
  }
  MPI_Finalize();
  if (!failed) printf("all right\n");
  return failed;
}
