#include "simulate/symmetry.h"

#include <bit>

namespace thinwire::simulate {

using plan::Algorithm;
using plan::Operation;

Symmetry symmetry_of(const Call& call) {
  const bool is_power = std::has_single_bit(static_cast<unsigned>(call.ranks()));
  switch (call.operation) {
    case Operation::kAllgather:
    case Operation::kAllreduce:
      if (call.algorithm != Algorithm::kRecursiveDoubling) return Symmetry::kTurns;
      if (is_power) return Symmetry::kFlips;
      // Allgather then takes Bruck's.
      return call.operation == Operation::kAllgather ? Symmetry::kTurns : Symmetry::kNone;
    case Operation::kAlltoall:
    case Operation::kReduceScatter:
      return Symmetry::kTurns;
    default:
      return Symmetry::kNone;
  }
}

}  // namespace thinwire::simulate
