// Collectives out of messages, as earlier papers compress them: every hop of a ring or a chain
// decodes what has come and encodes it anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "collective/data.h"
#include "nccl/device.h"
#include "nccl/library.h"
#include "nccl/options.h"

namespace thinwire::bench::nccl {

// Messages in groups, as programs make them.

// One rank's end of a communicator, and the stream that its calls are on.
struct End {
  Group group;
  ncclComm_t comm;
  cudaStream_t stream;
};

// To the next rank around, and from the one before. Throws std::runtime_error, as the other does.
void exchange(const Calls& calls, const End& end, const Buffer& from, Buffer& to, std::size_t count,
              ncclDataType_t type);

// `count` elements to each rank and from each, itself included, in one group.
void exchange_with_all(const Calls& calls, const End& end, const Buffer& from, Buffer& to,
                       std::size_t count, ncclDataType_t type, std::size_t width);

// `count` elements of rank 0 to each rank, itself included, in one group.
void scatter(const Calls& calls, const End& end, const Buffer& from, Buffer& to, std::size_t count,
             ncclDataType_t type, std::size_t width);

ncclDataType_t type_of(tw_dtype dtype);

// Elements that go to a rank, and those that come from one; a rank of -1: none.
struct Sent {
  const char* at;
  std::int64_t count;
  int rank;
};
struct Received {
  char* at;
  std::int64_t count;
  int rank;
};

// How messages travel.
class Messages {
 public:
  virtual ~Messages() = default;
  // Both at once, in the order of the device's stream. Throws std::runtime_error.
  virtual void exchange(const Sent& sent, const Received& received) = 0;
};

// By the names that programs call, so that a preload library may compress them.
class PlainMessages : public Messages {
 public:
  PlainMessages(const Calls& calls, Device& device, ncclComm_t comm, tw_dtype dtype)
      : calls_(calls), device_(device), comm_(comm), type_(type_of(dtype)) {}
  void exchange(const Sent& sent, const Received& received) override;

 private:
  const Calls& calls_;
  Device& device_;
  ncclComm_t comm_;
  ncclDataType_t type_;
};

// On the device's stream, in the order of calls; counts are of elements. Send and receive buffers
// are apart. Throws std::runtime_error.
class PerHop {
 public:
  // `most` elements are the largest block that is summed.
  PerHop(std::unique_ptr<Messages> messages, Device& device, const Place& place, tw_dtype dtype,
         std::int64_t most);

  void all_gather(const char* send, char* receive, std::int64_t count);      // a ring
  void reduce_scatter(const char* send, char* receive, std::int64_t count);  // a ring
  void all_reduce(const char* send, char* receive, std::int64_t count);      // both rings
  void broadcast(const char* send, char* receive, std::int64_t count);       // a chain from rank 0
  void all_to_all(const char* send, char* receive, std::int64_t count);    // by turns, by distance
  void scatter(const char* send, char* receive, std::int64_t count);       // by turns, from rank 0
  void send_receive(const char* send, char* receive, std::int64_t count);  // to the next

 private:
  // `ranks` blocks that are as good as equal.
  std::int64_t first_of(std::int64_t block, std::int64_t count) const {
    return count * block / ranks_;
  }
  const char* block_of(const char* array, std::int64_t block, std::int64_t count) const {
    return array + first_of(block, count) * width_;
  }
  std::int64_t length_of(std::int64_t block, std::int64_t count) const {
    return first_of(block + 1, count) - first_of(block, count);
  }
  std::int64_t wrapped(std::int64_t block) const { return (block + 2 * ranks_) % ranks_; }

  // Gathers an array of `count` elements in all.
  void gather_ring(char* array, std::int64_t count);
  void sum_ring(const char* array, std::int64_t count, char* own_block);
  // With the ranks so far ahead and as far before.
  void exchange(const char* send, std::int64_t sent, char* receive, std::int64_t received,
                std::int64_t distance = 1);

  std::unique_ptr<Messages> messages_;
  Device& device_;
  std::int64_t rank_, ranks_;
  tw_dtype dtype_;
  std::int64_t width_;
  Buffer partial_[2];  // what has come, and what is sent on
};

}  // namespace thinwire::bench::nccl
