// Calls under way that look for continuations after the MPI has completed requests, and whose a
// continuation is that is found meanwhile: another thread may have been given the handle again, for
// whatever it likes, before the look.
//
// Continuations and calls are numbered in one order. A call's requests had their continuations
// before it began; what got one of their handles afterwards has a later number. So of the calls
// that ask about a handle, a continuation belongs to the first that began after it was put.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

struct LateCall {
  const MPI_Request* requests = nullptr;  // as the MPI was handed them
  std::size_t count = 0;
  std::uint64_t number = 0;
  LateCall* next = nullptr;
  LateCall* previous = nullptr;
};

// All calls in one order. Without a lock of its own: the table of continuations has one.
class LateCalls {
 public:
  void begin(LateCall& call, std::uint64_t number);
  void end(LateCall& call);

  // Whether the continuation of that number, put on `request`, is of another call than `own`.
  // nullptr: whoever asks has not called the MPI yet.
  bool is_anothers(const LateCall* own, std::uint64_t number, MPI_Request request) const;

 private:
  LateCall* newest_ = nullptr;
};

}  // namespace thinwire::mpi
