#include "shim/mpi/entry/ordered_started.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <utility>
#include <vector>

#include "shim/mpi/message/error_target.h"
#include "shim/mpi/message/persistent.h"
#include "shim/mpi/native/counted_call.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/pool.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// The MPI's calls by which values are gathered, for int and for large counts.
template <typename Count, typename Place>
struct Moves {
  using Gather = int (*)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int,
                         MPI_Comm, MPI_Request*);
  using Allgather = int (*)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm,
                            MPI_Request*);
  using Alltoallv = int (*)(const void*, const Count*, const Place*, MPI_Datatype, void*,
                            const Count*, const Place*, MPI_Datatype, MPI_Comm, MPI_Request*);
};

template <typename Call, typename... Arguments>
int call_native(const char* name, Arguments... arguments) {
  return reinterpret_cast<Call>(native_call(name))(arguments...);
}

template <typename Count>
constexpr bool kIsWide = !std::is_same_v<Count, int>;

// Memory and lists of one call, until it is complete; of a persistent one until that is freed.
class OrderedSum : public Staged {
 public:
  OrderedSum(const OrderedCall& call, StagedCollectivePointer staged)
      : call_(call), staged_(std::move(staged)), errors_(error_target(call.comm)) {
    const auto ranks = static_cast<std::uint64_t>(call.ranks);
    own_ = call.scatters() ? call.count_of(call.rank) : call.count_of(0);
    units_ = call.adder.units();
    is_wide_ = own_ * units_ > INT_MAX;
    if (call.scatters()) list_blocks();
    call_.counts = {};  // the program's lists may go now
    if (!adds() && call.sum != Sum::kExscan) return;
    memory_ = process().pool.acquire(
        std::max<std::uint64_t>(ranks * own_ * call.adder.element_bytes(), 1));
    has_memory_ = static_cast<bool>(memory_);
  }

  bool has_memory() const { return has_memory_; }

  // Begins the moves; returns an MPI error code, raised.
  int begin(MPI_Request* request) {
    ++process().counters.sums_in_rank_order;
    return is_wide_ ? begin_as<MPI_Count, MPI_Aint>(wide_, request)
                    : begin_as<int, int>(narrow_, request);
  }

  int load() override { return staged_ == nullptr ? MPI_SUCCESS : staged_->load(); }

  Settled finish() override {
    if (adds()) {
      int error = call_.adder.add_up(memory_.data(), call_.summands(), own_);
      const std::uint64_t bytes = own_ * call_.adder.element_bytes();
      if (error == MPI_SUCCESS && tw_memory_copy(call_.output, memory_.data(), bytes) != TW_OK) {
        error = MPI_ERR_INTERN;
      }
      if (error != MPI_SUCCESS) return {error, errors_};
    }
    return staged_ == nullptr ? Settled{} : staged_->finish();
  }

 private:
  template <typename Count, typename Place>
  struct Lists {
    std::vector<Count> counts, each;
    std::vector<Place> places, gathered;
  };

  bool adds() const { return call_.has_result() && call_.summands() > 0 && own_ > 0; }

  void list_blocks() {
    std::uint64_t place = 0;
    for (int block = 0; block < call_.ranks; ++block) {
      place += call_.count_of(block);
    }
    const std::uint64_t gathered = own_ * static_cast<std::uint64_t>(call_.ranks);
    is_wide_ = std::max(place, gathered) * units_ > INT_MAX;
    is_wide_ ? list_in(wide_) : list_in(narrow_);
  }

  template <typename Count, typename Place>
  void list_in(Lists<Count, Place>& lists) {
    std::uint64_t place = 0;
    for (int block = 0; block < call_.ranks; ++block) {
      const std::uint64_t before = static_cast<std::uint64_t>(block) * own_;
      lists.counts.push_back(static_cast<Count>(call_.count_of(block) * units_));
      lists.places.push_back(static_cast<Place>(place * units_));
      lists.each.push_back(static_cast<Count>(own_ * units_));
      lists.gathered.push_back(static_cast<Place>(before * units_));
      place += call_.count_of(block);
    }
  }

  template <typename Count, typename Place>
  int begin_as(const Lists<Count, Place>& lists, MPI_Request* request) {
    using Calls = Moves<Count, Place>;
    const void* const in = call_.input;
    void* const to = memory_.data();
    const MPI_Datatype type = call_.adder.moved_type();
    const MPI_Comm comm = call_.comm;
    const auto count = static_cast<Count>(own_ * units_);
    constexpr bool wide = kIsWide<Count>;
    if (call_.scatters()) {
      return call_native<typename Calls::Alltoallv>(wide ? "PMPI_Ialltoallv_c" : "PMPI_Ialltoallv",
                                                    in, lists.counts.data(), lists.places.data(),
                                                    type, to, lists.each.data(),
                                                    lists.gathered.data(), type, comm, request);
    }
    if (call_.sum == Sum::kReduce) {
      return call_native<typename Calls::Gather>(wide ? "PMPI_Igather_c" : "PMPI_Igather", in,
                                                 count, type, to, count, type, call_.root, comm,
                                                 request);
    }
    return call_native<typename Calls::Allgather>(wide ? "PMPI_Iallgather_c" : "PMPI_Iallgather",
                                                  in, count, type, to, count, type, comm, request);
  }

  OrderedCall call_;
  StagedCollectivePointer staged_;
  ErrorTargetPointer errors_;
  std::uint64_t own_ = 0;    // elements that this rank adds up of each
  std::uint64_t units_ = 1;  // of what travels, an element
  bool is_wide_ = false;
  bool has_memory_ = true;
  Lists<int, int> narrow_;
  Lists<MPI_Count, MPI_Aint> wide_;
  Lease memory_;
};

// A persistent call. The program's handle is that of the MPI's own, which is never started: MPICH
// 4.0 loses data of persistent collectives that move what each rank has.
class OrderedPersistent : public Persistent {
 public:
  explicit OrderedPersistent(std::shared_ptr<OrderedSum> sum) : sum_(std::move(sum)) {}

  int start() override {
    int error = sum_->load();
    if (error == MPI_SUCCESS) error = sum_->begin(&active);
    if (error != MPI_SUCCESS) {
      active = MPI_REQUEST_NULL;
      return error;
    }
    return keep_started(sum_, &active);
  }

  // The MPI still uses the memory.
  int free_active() override { return wait_for_active(); }

 private:
  std::shared_ptr<OrderedSum> sum_;
};

using OrderedSumPointer = std::shared_ptr<OrderedSum>;

// Memory for the call, in `made`, if it is to be added in the order of the ranks. Returns what went
// wrong, raised.
int prepare(Sum sum, const CollectiveArguments& arguments, StagedCollectivePointer& staged,
            OrderedSumPointer& made) {
  std::optional<OrderedCall> call;
  const Order order = order_of(sum, arguments, call);
  if (order == Order::kMpis) return MPI_SUCCESS;
  if (order == Order::kNotKnown) return raise(arguments.comm, MPI_ERR_OTHER);
  made = std::make_shared<OrderedSum>(*call, staged);
  return made->has_memory() ? MPI_SUCCESS : raise(arguments.comm, MPI_ERR_NO_MEM);
}

}  // namespace

std::optional<int> start_in_order(Sum sum, const CollectiveArguments& arguments,
                                  StagedCollectivePointer& staged, MPI_Request* request) {
  if (!sums_are_ordered || request == nullptr) [[likely]]
    return std::nullopt;
  OrderedSumPointer made;
  int error = prepare(sum, arguments, staged, made);
  if (error != MPI_SUCCESS) return error;
  if (made == nullptr) return std::nullopt;
  error = made->begin(request);
  return error == MPI_SUCCESS ? keep_started(std::move(made), request) : error;
}

std::optional<int> persist_in_order(Sum sum, const CollectiveArguments& arguments,
                                    StagedCollectivePointer& staged, MPI_Request* request,
                                    const std::function<int()>& native) {
  if (!sums_are_ordered || request == nullptr) [[likely]]
    return std::nullopt;
  OrderedSumPointer made;
  int error = prepare(sum, arguments, staged, made);
  if (error != MPI_SUCCESS) return error;
  if (made == nullptr) return std::nullopt;
  error = native();
  if (error != MPI_SUCCESS) return error;
  add_persistent(*request, std::make_unique<OrderedPersistent>(std::move(made)));
  return MPI_SUCCESS;
}

}  // namespace thinwire::mpi
