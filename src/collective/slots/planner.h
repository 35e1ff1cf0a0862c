// Makes a plan of slots: one function an operation (moves.cpp, reductions.cpp; in two levels
// levels.cpp, levels_sums.cpp, packing.cpp, uneven_gather.cpp, uneven_sums.cpp), then a place in
// lent memory for everything (places.cpp).
#pragma once

#include <optional>
#include <vector>

#include "collective/slots/plan.h"

namespace thinwire::collective {

class SlotPlanner {
 public:
  SlotPlanner(SlotPlan& plan, SlotPlan::NeedsOf needs_of)
      : plan_(plan), call_(plan.call_), needs_of_(needs_of), nodes_(plan.call_.nodes.get()) {
    // Raw values show no factor, unless it is sent with them.
    if (call_.premultiplied && !has_levels()) nodes_ = nullptr;
  }

  Status build();

 private:
  using Kind = SlotExchange::Kind;
  using Area = Values::Area;

  int rank() const { return call_.rank; }
  int ranks() const { return call_.ranks; }
  std::uint64_t bytes_of(std::uint64_t values) const { return call_.bytes_of(values); }
  SlotExchange& exchange(int number) { return plan_.exchanges_[static_cast<std::size_t>(number)]; }

  Status choose_coder(std::uint64_t count);
  bool is_lossless() const { return plan_.settings_.spec.codec->lossless; }
  void alone();
  void allgather();
  void bcast();
  void send_or_receive();
  void alltoall();
  void gather();
  void scatter();
  void reduce_scatter(const Partition& blocks);
  void reduce_gathered();
  void allreduce_gathered();
  void allreduce_gathered_raw();
  // An exchange in which all ranks get `bytes` of each, without slots: where they come to.
  Values gather_raw(int number, std::uint64_t bytes, bool in_receive);
  void add_whole_arrays(std::uint64_t stride, std::uint64_t came, bool own_apart);
  void sum_in_blocks();
  void gather_results(const Partition& blocks);
  void gather_raw_results(const Partition& blocks);
  void gather_results_at_root(int number, const Partition& blocks);

  bool has_levels() const;
  bool rounds() const;
  bool has_column() const { return nodes_->local(rank()) < nodes_->columns(); }
  int peer_on(int node) const { return nodes_->members(node)[local()]; }
  std::size_t local() const { return static_cast<std::size_t>(nodes_->local(rank())); }
  const std::vector<int>& own_node() const { return nodes_->members(nodes_->of(rank())); }
  void gather_in_levels(int number, const Partition& blocks, Values own, Values shown);
  void share_inside(SlotExchange& inside, const Partition& blocks, Values own);
  void share_results(SlotExchange& inside, const Partition& blocks);
  double scale_inside() const;
  void send_factors(SlotExchange& exchange, const std::vector<int>& among);
  void send_factors_of_raw(SlotExchange& exchange);
  void reduce_scatter_in_levels(const Partition& blocks);
  void add_inside(const Partition& blocks, std::uint64_t stride);
  void add_parts_inside(const Partition& blocks, Values parts);
  void add_between(const Partition& blocks, std::uint64_t stride);

  // On nodes that differ in size (uneven_sums.cpp, uneven_gather.cpp): SlotNodes::parts_of().
  using Parts = std::vector<std::vector<int>>;
  static int runs_in(const Parts& parts);
  bool packs_parts(const Parts& parts, int steps) const;
  void pack_part(int exchange, const std::vector<int>& part, Area area, Values packed);
  void gather_on_uneven(Values own, Values shown);
  void share_parts(const Parts& parts, Values own);
  void share_packed_parts(const Parts& parts, Values own);
  void reduce_scatter_on_uneven();
  void add_packed_parts(const Parts& parts);
  void add_parts(const Parts& parts, std::uint64_t stride);
  void add_parts_between(const std::vector<int>& part, std::uint64_t stride);
  SlotSum sum_inside(std::uint64_t count, std::uint64_t stride) const;

  bool packs(std::int64_t messages, std::int64_t steps) const;
  bool packs_columns(int steps) const;
  Partition packed() const;
  SlotRows column_at(int exchange, int local, Area area, Values packed) const;
  Values pack_columns();
  void share_packed(int number, Values own);

  // A rank's block in arrays with a block of call_.count for each rank.
  Values block_at(Area area, int rank) const {
    return {area, bytes_of(call_.count) * static_cast<std::uint64_t>(rank)};
  }
  Values result_at(const Partition& blocks);
  // `bytes` more of what stays.
  Values keep(std::uint64_t bytes);
  SlotTask raw_task(int peer, std::uint64_t count, Values values);
  // A task of an exchange of messages.
  SlotTask message(int number, int from, std::uint64_t count, int peer, Values values);
  SlotTask task(int number, int from, std::uint64_t count, int peer, Values values);
  void add_own(int number, SlotTask own, Values source, bool stays_in_place);
  void keep_sample();
  void bound_result();
  Values differences(Values values);

  Status measure();
  Status measure(SlotExchange& exchange);
  Status measure_for_others();
  Status shape(SlotTask& task);
  void place_messages(SlotExchange& exchange);
  void place_gathered(SlotExchange& exchange);
  void place_sample(SlotExchange& exchange);
  void place_scratch(int number, std::uint64_t at);
  void place_what_stays(std::uint64_t at);
  void place_bound();
  void place_difference();
  void number_outcomes();
  int most_at_once() const;

  SlotPlan& plan_;
  SlotCall& call_;
  SlotPlan::NeedsOf needs_of_;
  const SlotNodes* nodes_;  // none: each rank is taken for a node of its own
  std::array<std::uint64_t, kMostExchanges> scratch_bytes_{};  // operands of a sum
  std::uint64_t scratch_at_ = 0;
  std::uint64_t stays_bytes_ = 0;
  Values result_;                      // this rank's sums
  std::optional<Values> raw_results_;  // all ranks', if they are gathered without slots
  Values node_sums_;                   // its node's of the blocks of all peers, in two levels
  std::uint64_t longest_result_ = 0;   // of all ranks' sums, if this one does not send or get all
  std::uint64_t coded_count_ = 0;      // of a block that others code, if this rank may have none
  std::uint64_t workspace_bytes_ = 0;
  std::uint64_t last_count_ = 0, last_room_ = 0;  // of the block that was measured last
  Shape last_shape_;
  std::uint64_t used_ = 0;  // lent memory of the exchange that is being placed
};

}  // namespace thinwire::collective
