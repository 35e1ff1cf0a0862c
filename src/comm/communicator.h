// Ranks that agreed on how they compress, and the collectives that they run.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "collective/algorithms.h"
#include "collective/polled/execute.h"
#include "comm/binding.h"
#include "comm/call.h"
#include "comm/costs.h"
#include "comm/history.h"
#include "comm/workspace.h"
#include "costs/costs.h"
#include "plan/collective.h"
#include "transport/transport.h"

namespace thinwire::comm {

struct Options {
  codec::Spec spec;                   // of calls that name none
  std::uint64_t threshold = 0;        // operations on fewer bytes go raw
  double link_bytes_per_second = 0;   // between nodes; 0: not stated
  bool same_node = false;             // compress if all ranks share a node
  std::vector<std::int32_t> nodes;    // of each rank; empty: each one a node of its own
  std::uint64_t piece_bytes = 0;      // 0: planned
  std::uint64_t reference_bytes = 0;  // most that results of earlier calls take; 0: none are kept
  std::int32_t threads = -1;          // that code beside the caller's; -1: planned, this rank alone
  frame::Mark mark = frame::file_mark();
  std::string mark_text;                      // to compare with other ranks
  std::shared_ptr<const costs::Table> costs;  // of this machine, in place of measuring; or null
};

// The choice for a call, made from what is equal on all ranks.
struct Choice {
  plan::Reason reason = plan::Reason::kCompress;
  plan::Algorithm algorithm = plan::Algorithm::kPlanned;
  plan::Coding coding = plan::Coding::kOnce;
  std::uint64_t piece_bytes = 0;
  std::uint32_t window = 1;
  double raw_seconds = 0;  // predicted; 0 if no link is stated
  double seconds = 0;
  double least_ratio = 0;  // below it raw is faster
};

struct Report {
  Choice choice;
  collective::Tally tally;
  std::uint64_t workspace_bytes = 0;
  std::uint64_t reference_bytes = 0;    // held now, of results of earlier calls
  std::uint64_t reference_results = 0;  // how many
  double seconds = 0;
  double bound = 0;
  double max_error = 0;
};

// Whether this rank's input and output of a block are the same memory.
bool shares_blocks(const Call& call, int rank);

// One thread at a time; the same calls in the same order on every rank.
class Communicator {
 public:
  // Collective; see agree().
  static Result<std::unique_ptr<Communicator>> create(
      std::unique_ptr<transport::Transport> transport, Options options);

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  const Options& options() const { return options_; }

  // This rank's share of the processors that the calling thread may run on: ranks of the node with
  // the same ones share them.
  std::uint32_t processors() const;

  // Collective once for each spec and dtype, if a link is stated: what the codec costs is
  // measured and agreed on. Looks at buffers for where they lie alone.
  Status learn_cost(const Call& call);

  // Sends nothing. Without a cost that is missing: raw, for kCostUnknown. Any thread, also while
  // another one is in run().
  Result<Choice> choose(const Call& call) const;

  // Has learn_costs() learn the call's cost, if it is missing. Local; any thread.
  void want_cost(const Call& call);

  // Collective: what was wanted is learned, in the order in which it was wanted.
  Status learn_costs();

  // Takes what another communicator of the same ranks has learned, which holds here too. Local.
  void take_costs_of(const Communicator& other) { costs_.adopt(other.costs_); }

  // Sets the link's rate, by which calls from here on are planned: the same on all ranks, between
  // the same calls. Local.
  void set_link(double bytes_per_second) { options_.link_bytes_per_second = bytes_per_second; }

  // Blocks until this rank's part is complete. kUnsupported if no schedule does it. `planned`:
  // what choose() has said of this call, if it was asked already. Learns costs, unless the call
  // is `as_agreed`.
  Status run(const Call& call, Report& report, const Choice* planned = nullptr);

 private:
  Communicator(std::unique_ptr<transport::Transport> transport, Options options);

  // Lessons of this rank's packets in earlier calls with the same spec and dtype.
  struct Tried {
    codec::Spec spec;
    Dtype dtype;
    choose::Backoff backoff;
  };
  choose::Backoff& backoff_of(const Call& call);

  bool lacks_cost(const Call& call) const;
  Status learn(const Call& call, int device);
  bool may_compress(const Call& call) const;
  plan::CollectivePlan plan_with(const Call& call, const plan::CollectiveSettings& settings) const;
  int count_nodes() const;
  Status find_sharers();
  std::uint32_t threads_wanted() const;
  collective::Crew* crew();
  Status run_chosen(const Call& call, Report& report);
  Status run_verified(const Call& call, Report& report);
  Status run_raw(const Call& call, std::vector<std::byte>& result);
  Result<double> largest_error(const Call& call, const std::vector<std::byte>& exact) const;
  Status broken(Status status);
  Status gone() const;  // what calls come to after that
  Status find_device(const Call& call);
  Status prepare(const Call& call, Report& report);
  Status set_bound(const Call& call, const collective::Row& row, Report& report);
  Status share_bound(const Call& call, const collective::Row& row, Report& report);
  std::uint64_t codings_of(const collective::Row& row) const;
  int additions_of(const collective::Row& row) const;
  Status bind(const Call& call, const Choice& choice);
  Status share_counts(const Call& call);
  Status acquire(Report& report);
  Status acquire_for_nothing();
  Status keep_input(const Call& call, Call& own);
  void end_loans();

  // ---- References ----

  struct Foreseen {
    std::uint32_t gain = 0;
    double ordinary_share = 1;
  };
  // This rank's proposal for its block.
  struct Proposal {
    std::uint32_t block = collective::kNone;
    const History::Entry* entry = nullptr;
    Foreseen foreseen;
  };
  Status open_history();
  bool may_refer(const Call& call, const Choice& choice) const;
  std::uint32_t own_block(const Call& call) const;
  const std::byte* values_of(const Call& call, std::uint32_t block) const;
  Foreseen foresee(const Call& call, const History::Entry& entry, std::uint32_t block);
  std::uint64_t propose(const Call& call, Proposal& proposal);
  void refer_to(const Call& call, std::uint64_t number, Proposal& proposal);
  Status agree_on_reference(const Call& call, const Choice& choice);
  void keep_result(const Call& call, bool succeeded);

  std::unique_ptr<transport::Transport> transport_;
  Options options_;
  collective::Topology topology_;
  int nodes_;
  std::uint32_t sharers_ = 1;  // of this rank's processors, with itself
  Costs costs_;                // equal on all ranks
  std::deque<Tried> tried_;

  // State of the call that runs.
  collective::EngineSettings settings_;
  collective::Schedule schedule_;
  collective::Program program_;
  collective::Executor executor_;
  std::unique_ptr<collective::Crew> crew_;
  choose::Backoff* backoff_ = nullptr;
  Binding binding_;
  collective::Workspace workspace_;
  std::uint64_t spare_bytes_ = 0;
  std::byte* spare_ = nullptr;
  int device_ = -1;  // of the user's buffers; -1: host memory
  std::vector<std::uint64_t> counts_;
  Buffer packets_, scratch_, spare_buffer_, kept_, trial_;
  bool broken_ = false;
  std::string why_broken_;

  // Alike on all ranks, but for `lost_` and what is in the entries of who has that.
  std::unique_ptr<History> history_;  // null if no references are wanted
  choose::Backoff pause_;             // where none was found lately
  std::uint64_t misses_ = 0;          // in a row
  double reference_seconds_ = 0;      // that differences and keeping results take, a byte
  bool lost_ = false;                 // a result that others have
  bool told_ = false;                 // in the log, that references are in use

  // State of the call that runs.
  ResultClass result_;
  bool keeps_ = false;
  std::uint64_t replaces_ = 0;  // the reference; 0: none
  collective::CallReference reference_;
  std::vector<std::uint64_t> first_byte_;  // of each block among those of a result
};

}  // namespace thinwire::comm
