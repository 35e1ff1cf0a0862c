#include "shim/mpi/collective/part.h"

#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

std::optional<tw_reduction> reduction_of(MPI_Op op) {
  if (op == MPI_SUM) return TW_SUM;
  if (op == MPI_PROD) return TW_PRODUCT;
  if (op == MPI_MIN) return TW_MINIMUM;
  if (op == MPI_MAX) return TW_MAXIMUM;
  return std::nullopt;
}

bool Part::take(Signature whole) {
  const Signature made_of = whole & ~Signature{kOfPairs};
  leaf = made_of == kOfF32 ? TW_F32 : made_of == kOfF64 ? TW_F64 : TW_BYTES;
  leaf_bytes = mpi::leaf_bytes(leaf);
  const bool are_words = made_of != kNothing && (made_of & ~kOfWords) == 0;
  word_bytes = are_words ? std::uint64_t{1} << (std::countr_zero(made_of) - kFirstOfWords) : 0;
  return leaf != TW_BYTES;
}

bool Part::hold(tw_dtype held) {
  if (held == TW_BYTES || word_bytes % mpi::leaf_bytes(held) != 0) return false;
  leaf = held;
  leaf_bytes = mpi::leaf_bytes(held);
  return true;
}

bool Part::may_hold_floats() const {
  return word_bytes > 0 && !form->reduces && process().settings.knows_words();
}

}  // namespace thinwire::mpi
