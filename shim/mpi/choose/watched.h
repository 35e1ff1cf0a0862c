// Whether a call has completed the request that is watched (choose/message_kinds.h): one load if
// none is.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/under_way.h"

namespace thinwire::mpi {

// The request as a number; 0: none.
extern std::atomic<std::uintptr_t> watched_request;

inline std::uintptr_t number_of(MPI_Request request) { return std::hash<MPI_Request>()(request); }

// Around the MPI's call, with the array that it is handed.
class WatchedAmong final : UnderWay {
 public:
  WatchedAmong(int count, const MPI_Request* requests)
      : number_(watched_request.load(std::memory_order_relaxed)) {
    if (number_ != 0) [[unlikely]]
      find(count, requests);
  }
  ~WatchedAmong() {
    if (at_ != nullptr) [[unlikely]]
      look();
  }

 private:
  void find(int count, const MPI_Request* requests);
  void look() const;
  void before_handler(int) override;

  std::uintptr_t number_;
  const MPI_Request* at_ = nullptr;
};

// The program lets go of it.
void forget_watched(MPI_Request request);

}  // namespace thinwire::mpi
