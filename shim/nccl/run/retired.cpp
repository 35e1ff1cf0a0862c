#include "run/retired.h"

#include "run/compressor.h"

namespace thinwire::nccl {
namespace {

// Whether nobody refers to one that its program has ended in order: neither what its streams have,
// nor the service thread. One that was aborted or has failed is kept: threads may still be in it.
bool is_free(const Communicator& ended) {
  if (!ended.is_let_go || ended.revoked || ended.out_of_step || ended.is_unfinished) return false;
  const Compressor* const compressor = ended.compressor.load(std::memory_order_acquire);
  return compressor == nullptr || compressor->is_free();
}

}  // namespace

void let_go(Communicator& ended) {
  for (Communicator* const each : note_let_go(ended, is_free)) {
    delete each->compressor.load();
    delete each;
  }
}

}  // namespace thinwire::nccl
