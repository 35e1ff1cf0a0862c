// The frame of an MPI program.
#pragma once

namespace examples {

// Runs `run` between MPI_Init and MPI_Finalize and returns what it returns, the exit status. An
// exception on one rank is printed behind the program's name and ends all of them.
int run_program(const char* name, int argc, char** argv, int (*run)(int argc, char** argv));

}  // namespace examples
