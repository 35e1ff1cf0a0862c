// The counters of tw_stats as performance variables of MPI's tools interface, after the MPI's own.
#pragma once

#include <cstdint>

#include "shim/mpi/native/mpi_abi.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Figures of the program's MPI calls for tw_stats_read().

tw_stats stats_now();

struct Variable {
  const char* name;
  const char* description;
  std::uint32_t offset;  // of its word in tw_stats
  enum Kind : std::uint8_t { kCounter, kPeak, kSigned } kind = kCounter;
};

extern const Variable kVariables[];
extern const int kVariableCount;

// An MPI may get more variables of its own while a program runs, whose numbers follow those that it
// had. So the library's keep the numbers that they had when the program first asked, and what the
// MPI gets later comes after them.
class VariableNumbers {
 public:
  explicit VariableNumbers(int of_mpi) : of_mpi_(of_mpi) {}

  int first_own() const { return of_mpi_; }
  // Which of the library's it is; -1: the MPI's.
  int own(int number) const {
    return number >= of_mpi_ && number < of_mpi_ + kVariableCount ? number - of_mpi_ : -1;
  }
  // Translates the program's number of a variable into the MPI's own, and back.
  int to_mpi(int number) const { return number < of_mpi_ ? number : number - kVariableCount; }
  int to_program(int number) const { return number < of_mpi_ ? number : number + kVariableCount; }

 private:
  int of_mpi_;
};

// The word of that variable now.
std::uint64_t value_of(int own);

}  // namespace thinwire::mpi
