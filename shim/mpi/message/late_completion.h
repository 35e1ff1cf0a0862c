// The user's requests on their way through a call that completes some of them, or none: what that
// costs goes by how many complete, not by how many are asked about. Programs with thousands of
// requests ask about all of them each time that one completes.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "shim/mpi/message/completion.h"
#include "shim/mpi/message/late_calls.h"
#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// Takes the continuations of those that completed, after the MPI's call, and hands that the user's
// own arrays. Has the calls that Completion has.
class LateCompletion final : UnderWay {
 public:
  template <typename Space>
  LateCompletion(int count, MPI_Request* requests, Space& space)
      : LateCompletion(count, requests, space.data(), space.size()) {}
  ~LateCompletion();
  LateCompletion(const LateCompletion&) = delete;
  LateCompletion& operator=(const LateCompletion&) = delete;

  // Whether it may be used: no continuation has to be taken before the MPI's call.
  static bool suffices();

  bool concerns_shim() const { return true; }
  void is_told(const Told& told) { told_ = told; }
  MPI_Request* requests() { return stand_ins_.empty() ? user_ : stand_ins_.data(); }
  // The user's own, where they are not ignored.
  MPI_Status* statuses(MPI_Status* users);
  int* errors(int completed);
  void begin(int, const MPI_Status&, int) {}
  int complete(int at, MPI_Status& status, int error, MPI_Status* user);

  // After an error: Open MPI frees requests that failed, without a word of all but the first.
  void drop_vanished();

 private:
  LateCompletion(int count, MPI_Request* requests, std::byte* space, std::size_t bytes);
  void find_persistent_ones();
  void before_handler(int error) override;
  void bring_up_to_date();
  bool has_vanished(std::size_t at);
  bool goes_on(std::size_t at);
  ContinuationPointer take(std::size_t at);

  std::pmr::monotonic_buffer_resource memory_;
  const std::size_t count_;
  MPI_Request* user_;
  MPI_Request* before_;  // the MPI's handles, before its call
  LateCall call_;
  std::pmr::vector<MPI_Request> stand_ins_;   // handed to the MPI where some are persistent
  std::pmr::vector<Persistent*> persistent_;  // then, else empty
  std::pmr::vector<int> errors_;
  std::pmr::vector<MPI_Request> put_back_;  // the stand-ins when an error handler ran
  std::pmr::vector<Kept> kept_;
  Told told_;
  int next_ = 0;          // the number of the next status: those before it are the user's
  bool is_over_ = false;  // the call is no late one any more
};

}  // namespace thinwire::mpi
