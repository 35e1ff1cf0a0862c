// Collectives that are compressed as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

#include "thinwire/cpp/codec.hpp"
#include "thinwire/cpp/transport.hpp"

namespace thinwire {

// See tw_comm_options. All ranks must give the same. What is named here is read by the constructor
// of Communicator only, and need not live longer.
struct CommunicatorOptions {
  const Codec* codec = nullptr;           // of calls that name none; default: "auto"
  std::uint64_t threshold = 64 << 10;     // operations on fewer bytes in all go raw
  double link_bytes_per_second = 0;       // 0: not stated. Then "auto" compresses nothing, and a
                                          // codec that is named is trusted to win
  std::span<const std::int32_t> nodes{};  // the node of each rank; default: one for each
  bool same_node = false;                 // compress where all ranks share a node
  std::uint64_t piece_bytes = 0;          // 0: planned
  std::string_view job = {};
  std::uint64_t reference_bytes = 0;  // most that results of earlier calls take; 0: none are kept
};

// Settings in which one call may differ from the communicator. Read by the call only.
struct CallOptions {
  const Codec* codec = nullptr;
  tw_algorithm algorithm = TW_ALGORITHM_PLANNED;
  tw_coding coding = TW_CODING_PLANNED;
  std::uint32_t flags = 0;  // of tw_collective_flag
};

// One rank of a group. Calls are made by one thread at a time, in the same order on every rank, and
// block until this rank's part is complete. Buffers are contiguous ranges of equal elements, host
// or GPU memory, and need live during the call only; they are checked for room here, where MPI
// would trust the counts. Elements without a dtype (see dtype_of) travel as bytes: lossless, as no
// codec takes them, and no reduction does. TW_IN_PLACE and lists of counts are for run().
class Communicator {
 public:
  // Collective. Takes the transport over, also where it throws, unless the table itself is refused
  // (tw_comm_create()).
  explicit Communicator(const tw_transport& transport, const CommunicatorOptions& options = {}) {
    if (!options.nodes.empty() &&
        options.nodes.size() != static_cast<std::size_t>(transport.ranks)) {
      if (transport.release != nullptr) transport.release(transport.context);
      throw Error(TW_INVALID_ARGUMENT, "nodes has not one entry for each rank");
    }
    auto given = sized<tw_comm_options>();
    given.same_node = options.same_node ? 1 : 0;
    given.codec = options.codec != nullptr ? options.codec->get() : nullptr;
    given.threshold = options.threshold;
    given.link_bytes_per_second = options.link_bytes_per_second;
    given.nodes = options.nodes.empty() ? nullptr : options.nodes.data();
    given.piece_bytes = options.piece_bytes;
    given.job = options.job.data();
    given.job_bytes = options.job.size();
    given.reference_bytes = options.reference_bytes;
    tw_comm* made = nullptr;
    check(tw_comm_create(&transport, &given, &made));
    handle_.reset(made);
  }

  tw_comm* get() const noexcept { return handle_.get(); }
  std::int32_t rank() const { return tw_comm_rank(get()); }
  std::int32_t size() const { return tw_comm_size(get()); }

  // Any operation, as the C interface has it.
  tw_collective_report run(const tw_collective& collective) {
    auto report = sized<tw_collective_report>();
    check(tw_comm_run(get(), &collective, &report));
    return report;
  }

  template <std::ranges::contiguous_range Values>
  tw_collective_report bcast(Values&& values, std::int32_t root, const CallOptions& options = {}) {
    tw_collective call = start(TW_BCAST, values, options);
    call.root = root;
    call.receive = std::ranges::data(values);
    return run(call);
  }

  template <std::ranges::contiguous_range Mine, std::ranges::contiguous_range All>
  tw_collective_report allgather(const Mine& mine, All&& all, const CallOptions& options = {}) {
    return exchange(TW_ALLGATHER, mine, all, std::ranges::size(mine),
                    {std::ranges::size(mine), std::ranges::size(mine) * ranks()}, options);
  }

  // `mine` and `received` have a block for each rank, of size(mine) / ranks elements: what is left
  // over where that does not come out even is not sent.
  template <std::ranges::contiguous_range Mine, std::ranges::contiguous_range All>
  tw_collective_report alltoall(const Mine& mine, All&& received, const CallOptions& options = {}) {
    const std::uint64_t block = std::ranges::size(mine) / ranks();
    return exchange(TW_ALLTOALL, mine, received, block, {block * ranks(), block * ranks()},
                    options);
  }

  template <std::ranges::contiguous_range Mine, std::ranges::contiguous_range Total>
  tw_collective_report allreduce(const Mine& mine, Total&& total, tw_reduction reduction = TW_SUM,
                                 const CallOptions& options = {}) {
    return exchange(TW_ALLREDUCE, mine, total, std::ranges::size(mine),
                    {std::ranges::size(mine), std::ranges::size(mine)}, options, reduction);
  }

  // `mine` has a block for each rank, `block` is this rank's of the result. The block's size
  // counts: what `mine` has beyond a block for each rank is not read.
  template <std::ranges::contiguous_range Mine, std::ranges::contiguous_range Block>
  tw_collective_report reduce_scatter(const Mine& mine, Block&& block,
                                      tw_reduction reduction = TW_SUM,
                                      const CallOptions& options = {}) {
    const std::uint64_t count = std::ranges::size(block);
    return exchange(TW_REDUCE_SCATTER, mine, block, count, {count * ranks(), count}, options,
                    reduction);
  }

 private:
  struct Room {
    std::uint64_t send;
    std::uint64_t receive;
  };
  struct Destroy {
    void operator()(tw_comm* comm) const { tw_comm_destroy(comm); }
  };

  std::uint64_t ranks() const { return static_cast<std::uint64_t>(size()); }

  template <class Values>
  static tw_collective start(tw_operation operation, const Values& values,
                             const CallOptions& options) {
    using T = std::remove_cv_t<std::ranges::range_value_t<Values>>;
    static_assert(std::is_trivially_copyable_v<T>);
    auto call = sized<tw_collective>();
    call.operation = operation;
    call.dtype = dtype_of<T>;
    call.count = std::ranges::size(values) * dtype_elements<T>;
    call.algorithm = options.algorithm;
    call.coding = options.coding;
    call.flags = options.flags;
    call.codec = options.codec != nullptr ? options.codec->get() : nullptr;
    return call;
  }

  // `count` elements of one rank's block from `mine` to `into`, which must have `room`.
  template <class Mine, class Into>
  tw_collective_report exchange(tw_operation operation, const Mine& mine, Into&& into,
                                std::uint64_t count, const Room& room, const CallOptions& options,
                                tw_reduction reduction = TW_SUM) {
    using T = std::remove_cv_t<std::ranges::range_value_t<Mine>>;
    static_assert(std::is_same_v<T, std::remove_cv_t<std::ranges::range_value_t<Into>>>);
    if ((options.flags & TW_IN_PLACE) != 0) {
      throw Error(TW_INVALID_ARGUMENT, "what is in place is called by run()");
    }
    if (std::ranges::size(mine) < room.send || std::ranges::size(into) < room.receive) {
      throw Error(TW_TOO_SMALL, "a buffer has fewer elements than the collective needs");
    }
    tw_collective call = start(operation, mine, options);
    call.count = count * dtype_elements<T>;
    call.reduction = reduction;
    call.send = std::ranges::data(mine);
    call.receive = std::ranges::data(into);
    return run(call);
  }

  std::unique_ptr<tw_comm, Destroy> handle_;
};

}  // namespace thinwire
