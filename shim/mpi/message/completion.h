// The user's requests on their way through one completion call of the MPI.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/persistent.h"
#include "shim/mpi/message/running.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/under_way.h"

namespace thinwire::mpi {

// Whether any request of this process is the shim's business: one load each.
inline bool requests_pending() {
  return live_continuations.load(std::memory_order_relaxed) != 0 ||
         live_persistent.load(std::memory_order_relaxed) != 0 ||
         live_orphans.load(std::memory_order_relaxed) != 0 ||
         running_requests.load(std::memory_order_relaxed) != 0;
}

// Whether a call about these requests is: a call about a few that are not costs a look at each. Of
// many the look would cost more than what it saves.
bool concerns_shim(int count, const MPI_Request* requests);

// The status at a place of the user's array, which may be none.
inline MPI_Status* status_at(MPI_Status* statuses, int at) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + at;
}

// How a call of the MPI's tells of what it has completed.
struct Told {
  enum class How { kOne, kAll, kSome } how = How::kOne;
  MPI_Status* native = nullptr;  // its statuses: of kAll by place, else in order
  MPI_Status* users = MPI_STATUSES_IGNORE;
  const int* indices = nullptr;    // in order; of kOne it may be known
  const int* completed = nullptr;  // kSome: how many

  // The number of the status of request `at`; -1: it is not told of.
  int order_of(std::size_t at, std::size_t count) const;
};

// A request of which an error handler found that it was complete, for a call that goes on.
struct Kept {
  std::size_t at;
  Settled outcome;
};

// The one of request `at`, if there is one.
const Settled* find_kept(std::span<const Kept> kept, std::size_t at);

// Before an error handler: completes the request of that status, whose user's one is brought up to
// date. `order` -1: the MPI says nothing of it but that it failed.
Settled settle_early(ContinuationPointer continuation, const Told& told, int order, int error);

// Takes the continuations of `count` requests out of the table and stands in for the user's arrays,
// which are brought up to date by `complete` for every request that completed and by the destructor
// for the others; before an error handler runs, for all.
class Completion final : UnderWay {
 public:
  // In the caller's frame, which may be all that a program's thread has room for: for one request,
  // or for as many as most calls have. More take memory from the system.
  using ForOne = std::array<std::byte, 192>;
  using ForMany = std::array<std::byte, 4096>;

  template <typename Space>
  Completion(int count, MPI_Request* requests, Space& space)
      : Completion(count, requests, space.data(), space.size()) {}
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // False: none of the requests is the shim's business.
  bool concerns_shim() const { return concerned_; }

  // Before the MPI's call.
  void is_told(const Told& told) { told_ = told; }

  MPI_Request* requests() { return native_.data(); }
  // For the MPI to fill; not the user's.
  MPI_Status* statuses(MPI_Status* /*users*/ = MPI_STATUSES_IGNORE) { return statuses_.data(); }
  // One for each that completed, MPI_SUCCESS at first.
  int* errors(int /*completed*/) {
    knows_errors_ = true;
    return errors_.data();
  }

  // Waits for the receives into GPU memory, in their order, and begins to copy each while the
  // others arrive; completes none. Does nothing for a single one.
  void overlap_device_receives();

  // Request `at` completed, and others with it: begins what can run while they are completed.
  void begin(int at, const MPI_Status& status, int error);

  // Request `at` completed with the MPI's `status` and `error`: the message is delivered, the
  // status corrected and written to `user` unless that is ignored. Returns the final error.
  int complete(int at, MPI_Status& status, int error, MPI_Status* user);

 private:
  struct Entry {
    ContinuationPointer continuation;
    Persistent* persistent = nullptr;
    std::uint64_t put_back = 0;  // its continuation's number, if an error handler ran
    bool is_done = false;
  };
  Completion(int count, MPI_Request* requests, std::byte* space, std::size_t bytes);
  void before_handler(int error) override;
  void bring_up_to_date();
  bool goes_on(std::size_t at) const;
  int error_of(int order, int raised) const;

  std::pmr::monotonic_buffer_resource memory_;
  MPI_Request* user_;
  std::pmr::vector<MPI_Request> native_;
  std::pmr::vector<MPI_Status> statuses_;
  std::pmr::vector<int> errors_;
  std::pmr::vector<Entry> entries_;
  std::pmr::vector<MPI_Request> put_back_;  // as the user's were when an error handler ran
  std::pmr::vector<Kept> kept_;
  Told told_;
  bool knows_errors_ = false;
  bool concerned_ = false;
  int device_receives_ = 0;
};

}  // namespace thinwire::mpi
