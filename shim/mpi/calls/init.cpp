// MPI_Init and MPI_Finalize: where the shim starts and ends.
#include "abi/real.h"
#include "process/process.h"

using namespace thinwire::mpi;

extern "C" int MPI_Init(int* argc, char*** argv) {
  before_init();
  const int error = real().Init(argc, argv);
  if (error == MPI_SUCCESS) after_init();
  return error;
}
THINWIRE_ALSO_PMPI(Init);

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  before_init();
  const int error = real().Init_thread(argc, argv, required, provided);
  if (error == MPI_SUCCESS) after_init();
  return error;
}
THINWIRE_ALSO_PMPI(Init_thread);

extern "C" int MPI_Finalize() {
  before_finalize();
  return real().Finalize();
}
THINWIRE_ALSO_PMPI(Finalize);
