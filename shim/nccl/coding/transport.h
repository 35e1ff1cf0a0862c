// NCCL as the core's transport in stream order, and the program's own group as part of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coding/call.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

// For tw_stream_comm_create(), which takes over what it holds.
tw_stream_transport transport_over(ncclComm_t comm, int rank, int ranks);

// NCCL's last error in a function of a table on this thread; cleared.
ncclResult_t take_transport_error();
// Whether NCCL has said ncclInProgress there, as it does of communicators that do not block;
// cleared.
bool take_in_progress();

// A call that stays raw and was kept, as it follows a coded one in a group.
struct KeptRaw {
  Call call;
  std::size_t behind = 0;  // how many coded calls of the group come before it
};

// While it lives the first exchange of what this thread enqueues becomes part of NCCL's group that
// the program has opened on it, and ends it; `raw` go into it in the places that they have between
// the coded calls.
class ProgramGroup {
 public:
  explicit ProgramGroup(std::span<const KeptRaw> raw);
  ~ProgramGroup();
  ProgramGroup(const ProgramGroup&) = delete;
  ProgramGroup& operator=(const ProgramGroup&) = delete;

  // Of this thread, or null; null once it has ended.
  static ProgramGroup* current();

  void begin() { ++begun_; }
  // What is raw behind so many coded calls, or fewer.
  ncclResult_t issue_behind(std::size_t coded);
  ncclResult_t end();
  // Ends it where nothing was enqueued.
  ncclResult_t close();

 private:
  std::span<const KeptRaw> raw_;
  std::size_t issued_ = 0;  // of raw_
  int begun_ = 0;
  bool ended_ = false;
  ncclResult_t result_ = ncclSuccess;
};

}  // namespace thinwire::nccl
