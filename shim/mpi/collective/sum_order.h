// In which order sums of a communicator are added, by the codec of all calls or by the policy's
// rule that takes a sum: what every rank finds alike.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/native/mpi_abi.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Logs a warning on rank 0 of a communicator, unless it is `said` already.
void warn_once(int rank, std::atomic<bool>& said, const char* what);

enum class Order : std::uint8_t { kMpis, kOfRanks, kNotKnown };

// A reduction of several ranks as the policy's rules look at it.
struct AskedSum {
  tw_operation operation;
  tw_dtype dtype;       // TW_BYTES: floats that no codec takes, as long double
  std::uint64_t bytes;  // of the whole array
  bool blocks;          // the call may wait for the other ranks
};

struct AskedOrder {
  // kNotKnown: a launcher does not say what a rank runs, so neither how its sums are made; or the
  // ranks could not compare their rules, by an `error` that the MPI has raised.
  Order order = Order::kMpis;
  bool is_exact = false;
  int error = MPI_SUCCESS;
};

// The rules that the communicator's ranks have compared, if they have: one answer for sums and for
// compressed collectives, whichever was first.
ComparedRules compared_rules(MPI_Comm comm);
void keep_compared_rules(MPI_Comm comm, const ComparedRules& compared);

// The first one that blocks has the ranks compare their rules, by an Allreduce of the MPI's own on
// `comm`, if rules say other things than the codec of all calls and nothing has compared them.
// Until then sums that do not block go by the latter, and so do all if ranks call the communicator
// differently.
AskedOrder order_on(MPI_Comm comm, const AskedSum& sum);

}  // namespace thinwire::mpi
