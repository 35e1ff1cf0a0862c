#include "nccl/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "collective/data.h"

namespace thinwire::bench::nccl {
namespace {

using Clock = std::chrono::steady_clock;

// The reason of messages that no other rank gets, in the words of the library's report.
constexpr const char* kToItself = "to itself, or of one rank";

// As the values of `collective` know it; a message is a block of a gather that one rank gets.
tw_operation as_collective(Operation operation) {
  if (operation == Operation::kReduceScatter) return TW_REDUCE_SCATTER;
  if (operation == Operation::kAllReduce) return TW_ALLREDUCE;
  if (operation == Operation::kAllToAll || operation == Operation::kAllToAllGrouped) {
    return TW_ALLTOALL;
  }
  if (operation == Operation::kScatter) return TW_SCATTER;
  return operation == Operation::kBroadcast ? TW_BCAST : TW_ALLGATHER;
}

bool sums(Operation operation) { return is_reduction(as_collective(operation)); }

double range_of(const std::vector<char>& bytes, tw_dtype dtype) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  const auto width = static_cast<std::size_t>(size_of(dtype));
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    const double value = number_at(dtype, bytes.data() + at);
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return most >= least ? most - least : 0;
}

ncclComm_t make_communicator(const Job& job) {
  const ncclUniqueId own = job.place.rank == 0 ? job.library.make_id() : ncclUniqueId{};
  const ncclUniqueId id = job.meeting.all(own).front();
  return job.library.make(job.place.ranks, id, job.place.rank);
}

std::unique_ptr<Buffer> make_buffer(const Job& job, std::int64_t bytes) {
  return std::make_unique<Buffer>(job.device, static_cast<std::size_t>(bytes));
}

}  // namespace

Turns::Turns(const Job& job, Operation operation, std::int64_t bytes)
    : job_(job),
      operation_(operation),
      count_(bytes / size_of(job.options.dtype)),
      group_{job.place.rank, job.place.ranks, 0},
      comm_(make_communicator(job)) {
  const Options& options = job.options;
  const tw_operation like = as_collective(operation);
  sent_ = job.data.sent(like, group_, count_);
  std::int64_t received = received_count(like, group_, count_) * size_of(options.dtype);
  if (operation == Operation::kSendRecv) {
    const Group previous{(group_.rank + group_.size - 1) % group_.size, group_.size, 0};
    check_ = std::make_unique<Check>(job.data.sent(like, previous, count_), options.dtype);
    received = bytes;
  } else {
    check_ = std::make_unique<Check>(job.data, like, options.dtype, group_, count_);
  }
  if (options.sum_rel > 0 && sums(operation)) {
    for (const double each : job.meeting.all(range_of(sent_, options.dtype))) range_ += each;
  }
  send_ = make_buffer(job, static_cast<std::int64_t>(sent_.size()));
  job.device.write(send_->at(), sent_);
  receive_ = make_buffer(job, received);
  received_.resize(static_cast<std::size_t>(received));
  for (int at = 0; at < 2; ++at) {
    filler_[at] = make_buffer(job, options.filler);
    // As a gather of all ranks needs it; values that any codec takes.
    small_[at] = make_buffer(job, (options.threshold + 8) * group_.size);
    const std::vector<char> zeros(small_[at]->bytes());
    job.device.write(small_[at]->at(), zeros);
  }
  for (const Way way : options.ways) {
    if (way >= Way::kPerHop && goes(operation, way)) make_hops(way);
  }
}

void Turns::make_hops(Way way) {
  const tw_dtype dtype = job_.options.dtype;
  // An array is cut into a block for each rank.
  const std::int64_t block =
      operation_ == Operation::kAllReduce ? count_ / group_.size + 1 : count_;
  std::unique_ptr<Messages> messages;
  if (way == Way::kPerHop) {
    messages = std::make_unique<PlainMessages>(job_.library.plain(), job_.device, comm_, dtype);
  } else {
    auto by_hand = std::make_unique<ByHand>(job_.library.raw(), job_.device, comm_, dtype,
                                            job_.options.codec, way == Way::kHost, block);
    by_hand_[static_cast<int>(way)] = by_hand.get();
    messages = std::move(by_hand);
  }
  const std::int64_t summed = sums(operation_) ? block : 0;
  hops_[static_cast<int>(way)] =
      std::make_unique<PerHop>(std::move(messages), job_.device, job_.place, dtype, summed);
}

Turns::~Turns() {
  job_.device.synchronize();
  job_.library.end(comm_);
}

bool Turns::gets_shared() const {
  return operation_ != Operation::kSendRecv &&
         bench::gets_shared(as_collective(operation_), group_);
}

void Turns::enqueue(const Calls& calls) {
  const auto count = static_cast<std::size_t>(count_);
  const ncclDataType_t type = type_of(job_.options.dtype);
  const cudaStream_t stream = job_.device.stream();
  switch (operation_) {
    case Operation::kAllGather:
      return check(calls.all_gather(send_->at(), receive_->at(), count, type, comm_, stream),
                   "ncclAllGather");
    case Operation::kReduceScatter:
      return check(
          calls.reduce_scatter(send_->at(), receive_->at(), count, type, ncclSum, comm_, stream),
          "ncclReduceScatter");
    case Operation::kAllReduce:
      return check(
          calls.all_reduce(send_->at(), receive_->at(), count, type, ncclSum, comm_, stream),
          "ncclAllReduce");
    case Operation::kBroadcast:
      return check(calls.broadcast(send_->at(), receive_->at(), count, type, 0, comm_, stream),
                   "ncclBroadcast");
    case Operation::kSendRecv:
      return exchange(calls, end(), *send_, *receive_, count, type);
    case Operation::kAllToAll:
      if (calls.all_to_all == nullptr) throw std::runtime_error("this NCCL has no ncclAlltoAll");
      return check(calls.all_to_all(send_->at(), receive_->at(), count, type, comm_, stream),
                   "ncclAlltoAll");
    case Operation::kAllToAllGrouped:
      return exchange_with_all(calls, end(), *send_, *receive_, count, type, width());
    case Operation::kScatter:
      return scatter(calls, end(), *send_, *receive_, count, type, width());
  }
}

void Turns::enqueue(Way way) {
  if (way == Way::kRaw) return enqueue(job_.library.raw());
  if (way == Way::kCoded) return enqueue(job_.library.plain());
  PerHop& hops = *hops_[static_cast<int>(way)];
  switch (operation_) {
    case Operation::kAllGather:
      return hops.all_gather(send_->at(), receive_->at(), count_);
    case Operation::kReduceScatter:
      return hops.reduce_scatter(send_->at(), receive_->at(), count_);
    case Operation::kAllReduce:
      return hops.all_reduce(send_->at(), receive_->at(), count_);
    case Operation::kBroadcast:
      return hops.broadcast(send_->at(), receive_->at(), count_);
    case Operation::kScatter:
      return hops.scatter(send_->at(), receive_->at(), count_);
    case Operation::kSendRecv:
      return hops.send_receive(send_->at(), receive_->at(), count_);
    default:
      return hops.all_to_all(send_->at(), receive_->at(), count_);
  }
}

Taken Turns::run(Way way) {
  const int calls = job_.options.calls;
  receive_->clear();
  if (job_.options.filler > 0) {
    exchange(job_.library.raw(), end(), *filler_[0], *filler_[1], filler_[0]->bytes(), ncclUint8);
  }
  job_.device.synchronize();
  job_.meeting.barrier();
  const auto begin = Clock::now();
  for (int call = 0; call < calls; ++call) enqueue(way);
  const std::chrono::duration<double> host = Clock::now() - begin;
  job_.device.synchronize();
  const std::chrono::duration<double> whole = Clock::now() - begin;
  job_.library.check(comm_);
  return {whole.count() / calls, host.count() / calls};
}

void Turns::warm_up(Way way) {
  enqueue(way);
  job_.device.synchronize();
}

void Turns::count_on(Way way) {
  constexpr int kCalls = 64;
  const std::size_t count = static_cast<std::size_t>(job_.options.threshold) / width() + 1;
  const ncclDataType_t type = type_of(job_.options.dtype);
  const Calls& calls = job_.library.plain();
  const bool messages = way >= Way::kPerHop || operation_ == Operation::kSendRecv;
  for (int call = 0; call < kCalls; ++call) {
    if (messages) {
      exchange(calls, end(), *small_[0], *small_[1], count, type);
    } else if (operation_ == Operation::kAllToAllGrouped || operation_ == Operation::kScatter) {
      exchange_with_all(calls, end(), *small_[0], *small_[1], count, type, width());
    } else if (operation_ == Operation::kAllReduce || operation_ == Operation::kReduceScatter) {
      // A codec that takes reductions alone has a number for what it takes, and none for what it
      // leaves.
      check(calls.all_reduce(small_[0]->at(), small_[1]->at(), count, type, ncclSum, comm_,
                             job_.device.stream()),
            "ncclAllReduce");
    } else {
      check(calls.all_gather(small_[0]->at(), small_[1]->at(), count, type, comm_,
                             job_.device.stream()),
            "ncclAllGather");
    }
  }
  job_.device.synchronize();
}

Counts Turns::counts(Way way) const {
  constexpr const char* kNames[] = {"AllGather", "ReduceScatter", "AllReduce", "Broadcast",
                                    "Send",      "AlltoAll",      "Send",      "Send"};
  if (way == Way::kRaw) return {};
  if (const ByHand* const by_hand = by_hand_[static_cast<int>(way)]) return by_hand->counts();
  // The last rank of a chain sends nothing.
  const bool last = operation_ == Operation::kBroadcast && group_.rank + 1 == group_.size;
  if (way == Way::kPerHop) return job_.library.counts(last ? "Recv" : "Send");
  const bool receives = operation_ == Operation::kScatter && group_.rank != 0;
  Counts counts = job_.library.counts(receives ? "Recv" : kNames[static_cast<int>(operation_)]);
  const bool has_own = operation_ == Operation::kAllToAllGrouped ||
                       (operation_ == Operation::kScatter && group_.rank == 0);
  if (has_own && group_.size > 1) {
    counts.leave_out(kToItself, count_ * size_of(job_.options.dtype));
  }
  return counts;
}

Phases Turns::phases(Way way) const {
  const ByHand* const by_hand = by_hand_[static_cast<int>(way)];
  return by_hand == nullptr ? Phases{} : by_hand->phases();
}

Tolerance Turns::tolerance(Way way) const {
  const Options& options = job_.options;
  if (way == Way::kRaw || options.lossless) return {};
  const int ranks = group_.size;
  const bool anew = way >= Way::kPerHop;  // at each hop
  if (!sums(operation_)) {
    const bool one_hop = operation_ == Operation::kSendRecv || operation_ == Operation::kAllToAll ||
                         operation_ == Operation::kScatter || !anew;
    return {false, options.bound * (one_hop ? 1 : std::max(1, ranks - 1))};
  }
  // A bound of the result holds for one operation, not for messages that a ring is made of.
  const double of_sum = std::max(options.sum_bound, options.sum_rel * range_);
  if (of_sum > 0 && way == Way::kCoded) return {false, of_sum};
  // Each array may be coded on its way to the sum, and the sum once more; at every hop twice.
  return {false, options.bound * (anew ? 2 * ranks : ranks + 1)};
}

Judgement Turns::judge(Way way) {
  job_.device.read(received_, receive_->at());
  std::optional<Judgement>& last = judged_[static_cast<int>(way)];
  if (!last || last->hash != hash_of(received_)) last = check_->judge(received_, tolerance(way));
  return *last;
}

}  // namespace thinwire::bench::nccl
