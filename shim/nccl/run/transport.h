// NCCL as the core's transport in stream order, and the program's own group as part of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run/call.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

// For tw_stream_comm_create(), which owns what it holds from then on.
tw_stream_transport transport_over(ncclComm_t comm, int rank, int ranks);

// NCCL's last error in a function of a table on this thread; cleared.
ncclResult_t take_transport_error();
// Whether NCCL has said ncclInProgress there, as it does of communicators that do not block;
// cleared.
bool take_in_progress();

// A call of a group that stays raw, and is kept for its place among the coded ones.
struct KeptRaw {
  Call call;
  Communicator* communicator = nullptr;
  std::size_t after = 0;  // how many coded calls of its step come before it
  bool ends_op = false;   // it is the last one of a reduction that the program has ended
};

// Hands a raw call to NCCL, in a group.
ncclResult_t pass_kept(const KeptRaw& kept);

// While it lives the first exchange of what this thread enqueues becomes part of one group of
// NCCL's, and ends it; `raw` go into it in the places that they have between the coded calls.
// `is_open`: the program has opened the group.
class ProgramGroup {
 public:
  ProgramGroup(std::span<const KeptRaw> raw, bool is_open);
  ~ProgramGroup();
  ProgramGroup(const ProgramGroup&) = delete;
  ProgramGroup& operator=(const ProgramGroup&) = delete;

  // The group of this thread, or null; null after it has ended.
  static ProgramGroup* current();

  void begin() { ++begun_; }
  // Issues the raw calls that come after so many coded calls, or fewer.
  ncclResult_t issue_after(std::size_t coded);
  ncclResult_t end();
  // Ends it if nothing was enqueued.
  ncclResult_t close();

 private:
  std::span<const KeptRaw> raw_;
  std::size_t issued_ = 0;  // of raw_
  int begun_ = 0;
  bool ended_ = false;
};

}  // namespace thinwire::nccl
