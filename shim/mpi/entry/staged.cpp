#include "shim/mpi/entry/staged.h"

#include <utility>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/entry/collectives.h"
#include "shim/mpi/message/persistent.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/fast_path.h"

namespace thinwire::mpi {
namespace {

bool is_rooted(const Form& form) {
  return form.call == CollectiveCall::kBcast || form.sent_at == Where::kAtRoot ||
         form.received_at == Where::kAtRoot;
}

Role role_in(const CollectiveArguments& arguments) {
  const bool rooted = is_rooted(form_of(arguments.call));
  return rooted ? role_of(arguments.root, arguments.comm) : Role{true, true};
}

bool takes_part(Where where, const Form& form, const Role& role) {
  if (where == Where::kNowhere) return false;
  if (where == Where::kAtRoot) return role.is_root;
  // Between two groups the root of a broadcast has a buffer without being one of those who get it.
  return role.is_leaf || (form.call == CollectiveCall::kBcast && role.is_root);
}

// Blocks that are reduced and scattered are for the ranks of one's own group.
int blocks_in(const Form& form, MPI_Comm comm) {
  if (!form.reduces) return peers_in(comm);
  int size = 0;
  real().Comm_size(comm, &size);
  return size;
}

// `count` blocks from the `first` on; without places they lie one after the other.
std::vector<TypedBlock> blocks_of(const Side& side, int first, int count) {
  std::vector<TypedBlock> blocks;
  if (side.counts.is_missing() || side.buffer == MPI_IN_PLACE) return blocks;
  std::int64_t next = 0;
  for (int block = first; block < first + count; ++block) {
    const MPI_Datatype type = side.type_of(block);
    const std::int64_t elements = side.counts.count(block);
    if (message_bytes(elements, type) == 0) continue;
    const std::int64_t unit = side.types != nullptr ? 1 : extent_of(type);
    const std::int64_t place = side.counts.has_places() ? side.counts.place(block) : next;
    blocks.push_back({place * unit, elements, type});
    next += elements;
  }
  return blocks;
}

// A persistent collective whose request is the MPI's own, and the program's handle as well.
class StagedPersistent : public Persistent {
 public:
  StagedPersistent(MPI_Request token, StagedPointer staged)
      : token_(token), staged_(std::move(staged)) {}

  int start() override {
    int error = staged_->load();
    if (error == MPI_SUCCESS) error = real().Start(&token_);
    if (error != MPI_SUCCESS) return error;
    active = token_;
    put_continuation(active, std::make_unique<Continuation>(staged_));
    return MPI_SUCCESS;
  }

  // The MPI still uses the host memory.
  int free_active() override { return wait_for_active(); }

 private:
  MPI_Request token_;
  StagedPointer staged_;
};

}  // namespace

// How many blocks of each side count on this rank, and the first of the received ones.
struct StagedCollective::Extent {
  int sent = 0, received = 0, received_first = 0;
  bool casts = false;  // the root of a broadcast, which reads what the others write

  explicit Extent(const CollectiveArguments& arguments) {
    const Form& form = form_of(arguments.call);
    const Role role = role_in(arguments);
    const int many = blocks_in(form, arguments.comm);
    const bool in_place = arguments.sent.buffer == MPI_IN_PLACE;
    casts = form.call == CollectiveCall::kBcast && role.is_root;
    if (takes_part(form.sent_at, form, role) && !in_place) {
      sent = form.sent == Blocks::kOne ? 1 : many;
    }
    if (!takes_part(form.received_at, form, role)) return;
    // A result that is made in place is as long as what would have been sent.
    const bool whole = form.operation == TW_REDUCE_SCATTER && in_place;
    received = form.received == Blocks::kOne && !whole ? 1 : many;
    if (received == 1 && arguments.received.counts.is_list() && !whole) {
      real().Comm_rank(arguments.comm, &received_first);
    }
  }
};

StagedCollective::StagedCollective(const CollectiveArguments& arguments, bool reads_received)
    : StagedCollective(arguments, reads_received, Extent(arguments)) {}

CollectiveArguments StagedCollective::with_own_types(CollectiveArguments arguments,
                                                     const Extent& extent) {
  types_.own_those_of(arguments.sent, extent.sent);
  types_.own_those_of(arguments.received, extent.received_first + extent.received);
  return arguments;
}

StagedCollective::StagedCollective(const CollectiveArguments& arguments, bool reads_received,
                                   const Extent& extent)
    : arguments_(with_own_types(arguments, extent)),
      sent_(arguments.sent.buffer, blocks_of(arguments_.sent, 0, extent.sent)),
      received_(arguments.received.buffer,
                blocks_of(arguments_.received, extent.received_first, extent.received)),
      errors_(error_target(arguments.comm)),
      reads_received_(reads_received || extent.casts || arguments.sent.buffer == MPI_IN_PLACE),
      writes_(!extent.casts),
      prepared_(sent_.prepare(false, received_.address())) {
  if (prepared_ == MPI_SUCCESS) prepared_ = received_.prepare(false, sent_.address());
}

int StagedCollective::load() {
  int error = sent_.read();
  if (error == MPI_SUCCESS && reads_received_) error = received_.read();
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(errors_->comm(), error);
}

Settled StagedCollective::finish() {
  const int error = writes_ ? received_.write_back() : MPI_SUCCESS;
  return {error, error == MPI_SUCCESS ? nullptr : errors_};
}

int stage_collective(const CollectiveArguments& arguments, bool reads_received, bool load,
                     StagedCollectivePointer& staged) {
  auto made = std::make_shared<StagedCollective>(arguments, reads_received);
  if (made->prepared() != MPI_SUCCESS) return raise(arguments.comm, made->prepared());
  const int error = load ? made->load() : MPI_SUCCESS;
  if (error == MPI_SUCCESS) staged = std::move(made);
  return error;
}

int keep_started(StagedPointer staged, MPI_Request* request) {
  if (is_complete(*request)) {
    const Settled outcome = staged->finish();
    if (outcome.error != MPI_SUCCESS) real().Wait(request, MPI_STATUS_IGNORE);
    staged.reset();
    return outcome.raise();
  }
  put_continuation(*request, std::make_unique<Continuation>(std::move(staged)));
  return MPI_SUCCESS;
}

int keep_persistent(StagedPointer staged, MPI_Request* request) {
  add_persistent(*request, std::make_unique<StagedPersistent>(*request, std::move(staged)));
  return MPI_SUCCESS;
}

}  // namespace thinwire::mpi
