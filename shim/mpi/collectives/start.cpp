#include "collectives/start.h"

#include <memory>
#include <vector>

#include "abi/real.h"
#include "collectives/call.h"
#include "collectives/judge.h"
#include "collectives/worker.h"
#include "process/process.h"
#include "requests/error_target.h"

namespace thinwire::mpi {
namespace {

// A call on its way, kept until its request is freed. The program may free its datatypes meanwhile.
struct Started {
  Asked asked;
  Part part;
  MPI_Request request{};
  int error = MPI_SUCCESS;
  std::vector<MPI_Datatype> owned;
  std::vector<MPI_Datatype> types[2];

  void free_types() {
    for (MPI_Datatype& type : owned) real().Type_free(&type);
    owned.clear();
  }

  MPI_Datatype own(MPI_Datatype type) {
    if (type == MPI_FLOAT || type == MPI_DOUBLE) return type;
    real().Type_dup(type, &type);
    owned.push_back(type);
    return type;
  }

  void own_types(Side& side, int blocks, std::vector<MPI_Datatype>& list) {
    if (blocks == 0) return;
    if (side.types == nullptr) {
      side.type = own(side.type);
      return;
    }
    for (int block = 0; block < blocks; ++block) list.push_back(own(side.types[block]));
    side.types = list.data();
  }
};

// MPICH 4.0 calls these with its lock held: they must do nothing that takes it.
extern "C" int thinwire_collective_query(void* state, MPI_Status* status) {
  const int error = static_cast<Started*>(state)->error;
  real().Status_set_elements_x(status, MPI_BYTE, 0);
  real().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return error;
}

extern "C" int thinwire_collective_free(void* state) {
  delete static_cast<Started*>(state);
  return MPI_SUCCESS;
}

// No collective can be cancelled.
extern "C" int thinwire_collective_cancel(void*, int) { return MPI_ERR_REQUEST; }

void run(Started& started, Collectives& kept) {
  ++process().counters.collectives[TW_COMPRESS];
  tw_collective collective = describe(started.asked, started.part, kept);
  started.error = run_described(started.asked, started.part, collective, kept);
  started.free_types();
  // The state may be gone once the request is complete.
  const MPI_Request request = started.request;
  real().Grequest_complete(request);
}

NativeReason judge_start(const Asked& asked, Part& part, Collectives*& kept) {
  const NativeReason why = judge_call(asked, part);
  if (why != NativeReason::kCompressed) return why;
  kept = known_collectives(asked.comm);
  // A communicator cannot be made here: whoever waits for nobody must not wait for that.
  if (kept == nullptr) return NativeReason::kNotYet;
  if (kept->why != NativeReason::kCompressed) return kept->why;
  if (!kept->threads) return NativeReason::kNoThreads;
  const tw_operation operation = part.form->operation;
  if (!has_schedule(operation, TW_ALGORITHM_PLANNED, TW_CODING_PLANNED)) {
    return NativeReason::kNoSchedule;
  }
  return process().takes(part.leaf) ? NativeReason::kCompressed : NativeReason::kDtype;
}

}  // namespace

std::optional<int> start(const Asked& asked, MPI_Request* request) {
  Part part;
  Collectives* kept = nullptr;
  const NativeReason why = judge_start(asked, part, kept);
  if (why != NativeReason::kCompressed || request == nullptr) {
    ++process().counters.collectives[static_cast<std::uint32_t>(why)];
    return std::nullopt;
  }
  auto started = std::make_unique<Started>();
  started->asked = asked;
  started->part = part;
  started->own_types(started->asked.sent, part.sent_blocks, started->types[0]);
  started->own_types(started->asked.received, part.received_blocks, started->types[1]);
  const int error =
      real().Grequest_start(thinwire_collective_query, thinwire_collective_free,
                            thinwire_collective_cancel, started.get(), &started->request);
  if (error != MPI_SUCCESS) {
    started->free_types();
    return raise(asked.comm, error);
  }
  *request = started->request;
  if (!kept->worker) kept->worker = std::make_unique<Worker>();
  kept->worker->hand_over([one = started.release(), kept] { run(*one, *kept); });
  return MPI_SUCCESS;
}

}  // namespace thinwire::mpi
