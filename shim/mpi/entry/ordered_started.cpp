#include "shim/mpi/entry/ordered_started.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "shim/mpi/message/error_target.h"
#include "shim/mpi/native/mpi_symbols.h"
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
  using GatherInit = int (*)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int,
                             MPI_Comm, MPI_Info, MPI_Request*);
  using AllgatherInit = int (*)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype,
                                MPI_Comm, MPI_Info, MPI_Request*);
  using AlltoallvInit = int (*)(const void*, const Count*, const Place*, MPI_Datatype, void*,
                                const Count*, const Place*, MPI_Datatype, MPI_Comm, MPI_Info,
                                MPI_Request*);
};

// Whether persistent calls that move what each rank has give the same values at every start: MPICH
// 4 loses some, and what is made of it.
bool moves_persistently() {
#ifdef OPEN_MPI
  return true;
#else
  static const bool does = [] {
    const std::string version = library_version();
    const std::string name = "MPICH Version:";
    const auto at = version.find(name);
    return at != std::string::npos && version.find("Intel(R) MPI") == std::string::npos &&
           std::atoi(version.c_str() + at + name.size()) >= 5;
  }();
  return does;
#endif
}

// Whether a call needs large counts, by what all ranks know alike.
bool needs_large_counts(const OrderedCall& call) {
  std::uint64_t longest = 0, total = 0;
  for (int block = 0; block < (call.scatters() ? call.ranks : 1); ++block) {
    longest = std::max(longest, call.count_of(block));
    total += call.count_of(block);
  }
  if (call.scatters()) longest = std::max(total, longest * static_cast<std::uint64_t>(call.ranks));
  return longest * call.adder.units() > INT_MAX;
}

// Open MPI has such calls from version 6 on, MPICH from 4 on.
bool has_large_counts() {
  static const bool has = find_symbol("PMPI_Ialltoallv_c") != nullptr &&
                          find_symbol("PMPI_Iallgather_c") != nullptr &&
                          find_symbol("PMPI_Igather_c") != nullptr;
  return has;
}

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

  // Begins the moves, or with `info` makes a persistent request of them. An MPI error code, raised.
  int begin(const MPI_Info* info, MPI_Request* request) {
    return is_wide_ ? begin_as<MPI_Count, MPI_Aint>(wide_, info, request)
                    : begin_as<int, int>(narrow_, info, request);
  }

  int load() override {
    ++process().counters.sums_in_rank_order;
    return staged_ == nullptr ? MPI_SUCCESS : staged_->load();
  }

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
  int begin_as(const Lists<Count, Place>& lists, const MPI_Info* info, MPI_Request* request) {
    using Calls = Moves<Count, Place>;
    constexpr bool kWide = kIsWide<Count>;
    const void* const in = call_.input;
    void* const to = memory_.data();
    const MPI_Datatype type = call_.adder.moved_type();
    const auto count = static_cast<Count>(own_ * units_);
    const auto call = [&]<typename Once, typename Again>(const char* once, const char* again,
                                                         auto... arguments) {
      return info == nullptr ? call_native<Once>(once, arguments..., call_.comm, request)
                             : call_native<Again>(again, arguments..., call_.comm, *info, request);
    };
    if (call_.scatters()) {
      return call.template operator()<typename Calls::Alltoallv, typename Calls::AlltoallvInit>(
          kWide ? "PMPI_Ialltoallv_c" : "PMPI_Ialltoallv",
          kWide ? "PMPI_Alltoallv_init_c" : "PMPI_Alltoallv_init", in, lists.counts.data(),
          lists.places.data(), type, to, lists.each.data(), lists.gathered.data(), type);
    }
    if (call_.sum == Sum::kReduce) {
      return call.template operator()<typename Calls::Gather, typename Calls::GatherInit>(
          kWide ? "PMPI_Igather_c" : "PMPI_Igather",
          kWide ? "PMPI_Gather_init_c" : "PMPI_Gather_init", in, count, type, to, count, type,
          call_.root);
    }
    return call.template operator()<typename Calls::Allgather, typename Calls::AllgatherInit>(
        kWide ? "PMPI_Iallgather_c" : "PMPI_Iallgather",
        kWide ? "PMPI_Allgather_init_c" : "PMPI_Allgather_init", in, count, type, to, count, type);
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

using OrderedSumPointer = std::shared_ptr<OrderedSum>;

// Memory for the call, in `made`, if it is to be added in the order of the ranks. Returns what went
// wrong, raised.
int prepare(Sum sum, const CollectiveArguments& arguments, StagedCollectivePointer& staged,
            OrderedSumPointer& made) {
  std::optional<OrderedCall> call;
  const AskedOrder asked = order_of(sum, arguments, false, call);
  if (asked.order == Order::kNotKnown) return raise_not_known(arguments, asked);
  if (!call) return MPI_SUCCESS;
  if (needs_large_counts(*call) && !has_large_counts()) {
    static std::atomic<bool> said{false};
    warn_once(call->rank, said,
              "a long sum that does not block is in the MPI's own order, as this MPI has no calls "
              "of large counts that move its values");
    return MPI_SUCCESS;
  }
  made = std::make_shared<OrderedSum>(*call, staged);
  return made->has_memory() ? MPI_SUCCESS : raise(arguments.comm, MPI_ERR_NO_MEM);
}

}  // namespace

std::optional<int> start_in_order(Sum sum, const CollectiveArguments& arguments,
                                  StagedCollectivePointer& staged, MPI_Request* request) {
  if (!sums_may_be_ordered || request == nullptr) [[likely]]
    return std::nullopt;
  OrderedSumPointer made;
  int error = prepare(sum, arguments, staged, made);
  if (error != MPI_SUCCESS) return error;
  if (made == nullptr) return std::nullopt;
  ++process().counters.sums_in_rank_order;
  error = made->begin(nullptr, request);
  return error == MPI_SUCCESS ? keep_started(std::move(made), request) : error;
}

// The MPI's own persistent moves: ranks may start requests in different orders, which those bear.
std::optional<int> persist_in_order(Sum sum, const CollectiveArguments& arguments,
                                    StagedCollectivePointer& staged, MPI_Info info,
                                    MPI_Request* request) {
  if (!sums_may_be_ordered || request == nullptr || !moves_persistently()) [[likely]]
    return std::nullopt;
  OrderedSumPointer made;
  int error = prepare(sum, arguments, staged, made);
  if (error != MPI_SUCCESS) return error;
  if (made == nullptr) return std::nullopt;
  error = made->begin(&info, request);
  return error == MPI_SUCCESS ? keep_persistent(std::move(made), request) : error;
}

}  // namespace thinwire::mpi
