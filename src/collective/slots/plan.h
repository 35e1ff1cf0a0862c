// A collective in slots as one rank does it: which blocks it encodes and decodes, what travels, and
// where everything lies in the memory that is lent. Made once, then only read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "collective/engine.h"
#include "collective/slots/call.h"
#include "collective/slots/references.h"

namespace thinwire::collective {

// A place of values: in one of the user's buffers, or in lent memory. While a plan is made: kLent
// is after what its exchange needs for slots, kStays if it stays for the whole call.
struct Values {
  enum class Area : std::uint8_t { kSend, kReceive, kLent, kStays };
  Area area = Area::kSend;
  std::uint64_t offset = 0;  // in bytes
};

// One block that is encoded into a slot, or decoded from one; or one that goes as it is.
struct SlotTask {
  int rank = -1;            // for whom it is, -1 for all others; or from whom
  std::uint64_t block = 0;  // its number in headers and mailboxes
  Shape shape;
  std::uint64_t raw_bytes = 0;
  std::uint64_t room = 0;  // out: bytes that the encode may write after the slot's header
  std::uint64_t slot = 0;  // where in lent memory
  std::uint32_t outcome = 0;
  Values values;
  bool is_raw = false;  // the values themselves are the message
  bool again = false;   // out: the slot before once more, for another rank
  // Out, raw: where the values would be overwritten while they are sent, as send and receive are
  // one, they are sent from there.
  bool staged = false;
  Values stage;

  // In: this rank's own block, decoded so that all have the same values. If it is spilled they
  // are those of `source`.
  bool own = false;
  bool stays_in_place = false;  // where values and source are one, nothing is done
  Values source;
};

struct SlotExchange {
  enum class Kind { kNone, kMessages, kGather, kBroadcast };
  Kind kind = Kind::kNone;
  int coded = 0;        // which capacity its slots have
  bool inside = false;  // all of it is raw
  std::uint64_t slot_bytes = 0;
  std::uint64_t slots = 0;  // kGather, kBroadcast: where in lent memory they begin
  // kGather of values as they are, one after the other: in lent memory for the whole call, or where
  // the result goes.
  bool stays = false, in_receive = false;
  bool is_raw() const { return stays || in_receive; }
  std::vector<SlotTask> out, in;
};

// This rank's own values, copied if they are not in place.
struct SlotCopy {
  Values to, from;
  std::uint64_t bytes = 0;
  bool spares_send = false;  // nothing is copied over what the call sends from
};

// Blocks that are copied to lie one after the other, or back to where they belong: rows of as many
// bytes at equal distances.
struct SlotRows {
  int exchange = 0;  // it is done before that goes, or after that came
  Values to, from;
  std::uint64_t rows = 0, row_bytes = 0;
  std::uint64_t to_step = 0, from_step = 0;  // from one row to the next, in bytes
};

// A sum of arrays, which came with an exchange but for this rank's own.
struct SlotSum {
  int after = 0;  // that exchange; -1: there is none
  int arrays = 1;
  int place = 0;     // this rank's among them
  double scale = 1;  // of each value, before it is added
  std::uint64_t count = 0;
  std::uint64_t stride = 0;
  Values others, own, to;
  bool own_apart = false;  // this rank's values are those at `own`, else among the others
};
inline constexpr int kMostExchanges = 4;

// Factors of a sum inside a node, where values have no headers: kFactorBytes each, this rank's own,
// and those of the node's others, which come with their values, one after the other.
struct SlotFactors {
  bool exist = false;
  Values own, others;
};

// The bound of a sum's result: what is told of this rank's values, and where in lent memory.
struct SlotBound {
  bool exists = false;
  Values values;
  std::uint64_t count = 0;
  std::uint64_t blocks = 0;   // what all ranks tell, kSlotUnit each
  std::uint64_t scratch = 0;  // ranges of parts
};

// The difference of a call from the result of an earlier one: what is encoded in the place of this
// rank's values, and what the ranks say of it, which travels with the first exchange.
struct SlotDifference {
  bool exists = false;
  ReferenceKey key;
  bool sends = false;        // this rank has values of its own
  std::uint64_t own = 0;     // the number of its block
  Values values;             // this rank's differences
  std::uint64_t blocks = 0;  // in lent memory: what is said of each block, kSlotUnit each
  std::uint64_t found = 0;   // after it, a word a block and one more: which references these are
  std::uint32_t outcome = 0;
};

class SlotPlan {
 public:
  // `needs_of` says how much workspace a block's coding needs. A second capacity of 0 is the first.
  using NeedsOf = Result<std::uint64_t> (*)(const EngineSettings&, const Shape&);
  static Result<std::unique_ptr<SlotPlan>> make(const SlotCall& call, NeedsOf needs_of);

  const SlotCall& call() const { return call_; }
  const EngineSettings& settings() const { return settings_; }
  const SlotExchange& exchange(int number) const {
    return exchanges_[static_cast<std::size_t>(number)];
  }
  const SlotCopy& copy() const { return copy_; }
  // Before an exchange goes, and after it came, before what came in its slots is opened.
  const std::vector<SlotRows>& packs() const { return packs_; }
  const std::vector<SlotRows>& unpacks() const { return unpacks_; }
  const std::vector<SlotSum>& sums() const { return sums_; }
  const SlotFactors& factors() const { return factors_; }
  const SlotBound& bound() const { return bound_; }
  const SlotDifference& difference() const { return difference_; }
  SlotWay way() const { return call_.sums_whole_arrays() ? way_ : SlotWay::kPlanned; }

  // Local work is done in this many stages, with an exchange between two; if the result is
  // bounded the first one is that of ranges.
  bool tells_first() const { return bound_.exists && !is_sample(); }
  int stages() const { return 1 + exchanges() + (tells_first() ? 1 : 0); }
  bool is_sample() const { return call_.sample != SampleEncode::kNone; }
  bool needs_mailbox() const { return exchanges() > 0; }
  // How many rounds the exchange after a stage has if the call is alone; else it has one.
  int rounds(int stage) const;

  std::uint32_t outcomes() const { return outcomes_; }
  std::uint64_t device_bytes() const { return end_; }
  std::uint64_t workspace_at() const { return workspace_; }
  std::uint64_t workspace_bytes() const { return outcomes_at_ - workspace_; }
  // How many blocks are coded in one step, each with a part of the workspace; 1: each by itself.
  int blocks_at_once() const { return blocks_at_once_; }
  std::uint64_t workspace_stride() const { return workspace_stride_; }
  // Bytes of the workspace, the outcomes and a word more, if these may lie apart from all else, in
  // memory that runs find and leave as zeros; 0 if the codec leaves other bytes.
  std::uint64_t kept_bytes() const { return kept_bytes_; }

  // Bytes that this rank sends in slots, as values and as slots; and those that it sends as they
  // are.
  std::uint64_t raw_bytes() const;
  std::uint64_t wire_bytes() const;
  std::uint64_t plain_bytes() const;
  // A run's steps on its stream, exchanges among them, whose workspace is kept and whose result is
  // not in place; its messages, sent and received, and how many ranks are at their other ends.
  // NCCL's own functions have none (counts.cpp).
  std::uint64_t launches() const;
  std::uint64_t messages() const;
  std::uint64_t peers() const;
  bool in_levels() const { return in_levels_; }
  // Bytes of a slot of the first or second coded exchange; 0 if there is none.
  std::uint64_t slot_bytes(int coded) const;

 private:
  explicit SlotPlan(const SlotCall& call) : call_(call) {
    if (call_.capacity[1] == 0) call_.capacity[1] = call_.capacity[0];
  }
  friend class SlotPlanner;

  int exchanges() const;

  SlotCall call_;
  SlotWay way_ = SlotWay::kPlanned;
  EngineSettings settings_;  // of a spec that names a codec
  std::array<SlotExchange, kMostExchanges> exchanges_;
  bool in_levels_ = false;
  SlotCopy copy_;
  std::vector<SlotRows> packs_, unpacks_;
  std::vector<SlotSum> sums_;
  SlotFactors factors_;
  SlotBound bound_;
  SlotDifference difference_;
  std::uint32_t outcomes_ = 0;
  int blocks_at_once_ = 1;
  std::uint64_t workspace_stride_ = 0;
  std::uint64_t workspace_ = 0, outcomes_at_ = 0, kept_bytes_ = 0, end_ = 0;
};

}  // namespace thinwire::collective
