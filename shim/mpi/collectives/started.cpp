#include "collectives/started.h"

#include "abi/real.h"
#include "collectives/call.h"
#include "process/process.h"

namespace thinwire::mpi {
namespace {

// No collective can be cancelled.
extern "C" int thinwire_collective_cancel(void*, int) { return MPI_ERR_REQUEST; }

}  // namespace

Started::Started(const Asked& asked, const Part& part, Ends ends)
    : asked_(asked), part_(part), ends_(ends) {
  own_types(asked_.sent, part.sent_blocks, types_[0]);
  own_types(asked_.received, part.received_blocks, types_[1]);
}

Started::~Started() { free_types(); }

MPI_Datatype Started::own(MPI_Datatype type) {
  if (type == MPI_FLOAT || type == MPI_DOUBLE) return type;
  real().Type_dup(type, &type);
  owned_.push_back(type);
  return type;
}

void Started::own_types(Side& side, int blocks, std::vector<MPI_Datatype>& list) {
  if (blocks == 0) return;
  if (side.types == nullptr) {
    side.type = own(side.type);
    return;
  }
  for (int block = 0; block < blocks; ++block) list.push_back(own(side.types[block]));
  side.types = list.data();
}

void Started::free_types() {
  for (MPI_Datatype& type : owned_) real().Type_free(&type);
  owned_.clear();
}

// MPICH 4.0 calls this and the next with its lock held: they must do nothing that takes it.
int Started::query(void* state, MPI_Status* status) {
  real().Status_set_elements_x(status, MPI_BYTE, 0);
  real().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<Started*>(state)->error_;
}

int Started::end(void* state) {
  auto* const started = static_cast<Started*>(state);
  if (started->ends_ == Ends::kWithItsRequest) delete started;
  return MPI_SUCCESS;
}

int Started::begin(MPI_Request* request) {
  const int error = real().Grequest_start(query, end, thinwire_collective_cancel, this, &request_);
  if (error == MPI_SUCCESS) *request = request_;
  return error;
}

void Started::run(Lane& lane) {
  ++process().counters.collectives[TW_COMPRESS];
  tw_collective collective = describe(asked_, part_, lane);
  error_ = run_described(asked_, part_, collective, lane);
  if (ends_ == Ends::kWithItsRequest) free_types();
  // This may be gone once the request is complete.
  const MPI_Request request = request_;
  real().Grequest_complete(request);
}

NativeReason judge_started(const Part& part) {
  if (!has_schedule(part.form->operation, TW_ALGORITHM_PLANNED, TW_CODING_PLANNED)) {
    return NativeReason::kNoSchedule;
  }
  return process().takes(part.leaf) ? NativeReason::kCompressed : NativeReason::kDtype;
}

}  // namespace thinwire::mpi
