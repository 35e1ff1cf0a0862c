#include "examples/common/program.h"

#include <mpi.h>

#include <cstdio>
#include <exception>

namespace examples {

int run_program(const char* name, int argc, char** argv, int (*run)(int argc, char** argv)) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}

}  // namespace examples
