// The MPI as what carries a compressed collective's bytes: spec/mpi-message.md, "Collectives".
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shim/mpi/collective/waiting.h"
#include "shim/mpi/native/mpi_abi.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Messages of MPI_BYTE on a communicator that the program does not use, with tags that nobody else
// uses there (parts.h). One thread at a time, as tw_transport has it. What fails is logged, with
// the MPI's own class of error. Between nodes messages may travel in parts (parts.h).
class MpiTransport {
 public:
  // The communicator stays the caller's and must outlive this.
  // `nodes`: of its ranks; none if all messages are to travel whole.
  explicit MpiTransport(MPI_Comm comm, int tag = 0, std::vector<std::int32_t> nodes = {});
  ~MpiTransport();
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  MPI_Comm comm() const { return comm_; }

  // Sets whose thread waits for messages.
  void set_waiter(Waiting::Who who, const std::atomic<unsigned>* wanted) {
    waiter_.set(who, wanted);
  }
  void share_processors() { waiter_.share_processors(); }

  // Sets the network's rate in bytes per second, which decides whether messages between nodes
  // travel in parts; 0: not known. Called on all ranks alike, with nothing under way.
  void set_rate(double rate);

  // The MPI's error of the first message that failed since it was last asked; MPI_SUCCESS else.
  int take_error() { return std::exchange(error_, MPI_SUCCESS); }

  // The table over this; its `release` is left to the caller.
  tw_transport table();

  tw_status send(int peer, const void* data, std::uint64_t bytes, std::uint64_t* request);
  tw_status receive(int peer, void* data, std::uint64_t capacity, std::uint64_t* request);
  tw_status test(std::uint32_t count, const std::uint64_t* requests, std::uint32_t* places,
                 std::uint64_t* bytes, std::uint32_t* done);

 private:
  // A message under way, until test() has told its end.
  struct Message {
    int peer = 0;
    bool receives = false;
    std::uint32_t left = 0;   // requests of it that are not complete
    std::uint64_t bytes = 0;  // received so far
    bool in_parts = false;
    std::byte* into = nullptr;   // of a receive in parts
    std::uint64_t capacity = 0;  // there
    std::uint64_t length = 0;    // what the first message of one in parts carries
    bool has_length = false;     // that has arrived
    bool has_parts = false;      // and the receives of the parts are posted
    bool has_answered = false;   // to its sender, as all parts were received
    bool is_complete() const { return left == 0 && (has_parts || !(in_parts && receives)); }
    bool wants_answer() const { return left == 0 && has_parts && length > 0 && !has_answered; }
  };

  bool uses_parts(int peer) const;
  std::uint64_t take_message(int peer, bool receives);
  tw_status failed(const char* what, int error);
  // One request more of a message; `error` is what the MPI said when it was to begin.
  tw_status begun(std::uint64_t number, int error, MPI_Request request);
  tw_status send_in_parts(std::uint64_t number, const std::byte* data, std::uint64_t bytes);
  tw_status receive_length(std::uint64_t number, std::byte* into, std::uint64_t capacity);
  tw_status receive_parts(std::uint64_t number);
  tw_status answer(std::uint64_t number);
  tw_status took_length(std::uint64_t number);
  tw_status test_open();
  tw_status take(std::uint64_t number, const MPI_Status& status);
  void close_complete(int count);

  MPI_Comm comm_;
  int tag_;
  int rank_ = 0;
  int error_ = MPI_SUCCESS;
  Waiting waiter_;
  std::vector<std::int32_t> nodes_;
  bool parts_ = false;            // between them
  std::deque<Message> messages_;  // by a request's number; they stay where they are
  std::vector<std::uint64_t> free_;
  // Receives whose parts are not posted, by peer: they are posted in their order.
  std::unordered_map<int, std::deque<std::uint64_t>> waiting_;
  std::vector<MPI_Request> open_;     // all that are under way
  std::vector<std::uint64_t> whose_;  // the messages of these
  std::vector<MPI_Status> statuses_;
  std::vector<int> complete_;
};

}  // namespace thinwire::mpi
