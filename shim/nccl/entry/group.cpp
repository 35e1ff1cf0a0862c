// Calls that a program makes in a group are kept until its outermost end (group_ends.cpp).
#include "entry/group.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/threads.h"

namespace thinwire::nccl {
namespace {

// How many this thread has open, for which a Group has been made.
thread_local int t_depth = 0;

}  // namespace

Group& kept_group() { return of_thread<Group>(); }

Group& close_group() {
  t_depth = 0;
  return kept_group();
}

bool in_group() { return t_depth > 0; }

int open_groups() { return t_depth; }

void open_group() {
  kept_group();
  ++t_depth;
}

void close_inner_group() { --t_depth; }

std::uint64_t next_place() { return kept_group().places++; }

void keep_undecided(const Call& call) { kept_group().undecided.push_back(call); }

std::vector<Call> take_undecided() { return std::exchange(kept_group().undecided, {}); }

void keep_coded(const Planned& planned) { kept_group().coded.push_back(planned); }

bool group_refers(const Compressor& compressor) {
  return std::ranges::any_of(kept_group().coded, [&](const Planned& each) {
    return each.compressor == &compressor && each.decision.plan->info.has_references != 0;
  });
}

void keep_watched(const Planned& planned) { kept_group().watched.push_back(planned); }

void keep_number(const CallNumber& call_number) { kept_group().call_number.push_back(call_number); }

void keep_count(const Count& count) { kept_group().counts.push_back(count); }

void keep_raw(const Call& call, Communicator& communicator) {
  Group& of = kept_group();
  of.raw.push_back({call, &communicator});
}

bool keep_end(ncclComm_t comm) {
  Group& of = kept_group();
  const auto is_its = [&](const auto& each) { return each.call.comm == comm; };
  const bool has = std::ranges::any_of(of.coded, is_its) || std::ranges::any_of(of.raw, is_its) ||
                   std::ranges::find(of.undecided, comm, &Call::comm) != of.undecided.end();
  if (has) of.ends.push_back(comm);
  return has;
}

bool ends_in_group(ncclComm_t comm) {
  const std::vector<ncclComm_t>& ends = kept_group().ends;
  return std::ranges::find(ends, comm) != ends.end();
}

bool kept_end_of(ncclRedOp_t op, ncclComm_t comm) {
  std::vector<KeptRaw>& raw = kept_group().raw;
  const auto last = std::find_if(raw.rbegin(), raw.rend(), [&](const KeptRaw& each) {
    return each.call.reduces() && each.call.op == op && each.call.comm == comm;
  });
  if (last == raw.rend()) return false;
  last->ends_op = true;
  return true;
}

ncclResult_t spoil_group(ncclResult_t failure) {
  if (t_depth > 0 && kept_group().failure == ncclSuccess) kept_group().failure = failure;
  return failure;
}

}  // namespace thinwire::nccl
