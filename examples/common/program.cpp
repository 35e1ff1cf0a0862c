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

World find_world() {
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  return world;
}

bool read_options(const char* name, const CommandLine& line, int argc, char** argv,
                  const std::function<bool(std::string* error)>& check) {
  std::string error;
  if (line.parse(argc, argv, &error) && check(&error)) return true;
  if (find_world().rank == 0) {
    std::fprintf(stderr, "%s: %s\n%s\n", name, error.c_str(), line.usage(name).c_str());
  }
  return false;
}

}  // namespace examples
