// A module that deep_ways opens with RTLD_DEEPBIND: the ways in which its receives reach the MPI.
#define _GNU_SOURCE
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <string.h>

typedef int (*Receive)(float*, int, MPI_Datatype, MPI_Comm);

// The program's. Weak, as another program, of another MPI, has none.
__attribute__((weak)) void host_register(Receive receive);
__attribute__((weak)) extern const char* host_library;
int receive_in_plugin(float* into, int count, MPI_Datatype type, MPI_Comm comm);
int receive_looked_up(float* into, int count, MPI_Datatype type, MPI_Comm comm);
int receive_in_another(float* into, int count, MPI_Datatype type, MPI_Comm comm);
int works_alone(void);

int receive_in_plugin(float* into, int count, MPI_Datatype type, MPI_Comm comm) {
  return MPI_Recv(into, count, type, 0, 5, comm, MPI_STATUS_IGNORE);
}

__attribute__((constructor)) static void register_itself(void) {
  if (host_register != NULL) host_register(receive_in_plugin);
}

int receive_looked_up(float* into, int count, MPI_Datatype type, MPI_Comm comm) {
  int (*receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
  void* const found = dlsym(dlopen(host_library, RTLD_NOW), "MPI_Recv");
  memcpy(&receive, &found, sizeof found);
  return receive(into, count, type, 0, 5, comm, MPI_STATUS_IGNORE);
}

int receive_in_another(float* into, int count, MPI_Datatype type, MPI_Comm comm) {
  Receive receive;
  void* const found =
      dlsym(dlopen(host_library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND), "receive_in_module");
  memcpy(&receive, &found, sizeof found);
  return receive(into, count, type, comm);
}

int works_alone(void) {
  float sent = 3, got = 0;
  MPI_Init(NULL, NULL);
  MPI_Sendrecv(&sent, 1, MPI_FLOAT, 0, 1, &got, 1, MPI_FLOAT, 0, 1, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  MPI_Finalize();
  return got == 3;
}
