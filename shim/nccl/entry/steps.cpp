#include "entry/steps.h"

#include <algorithm>
#include <vector>

#include "native/events.h"
#include "run/device.h"

namespace thinwire::nccl {
namespace {

// A communicator's calls of the group.
struct Share {
  ncclComm_t comm;
  std::vector<cudaStream_t> streams{};
  Compressor* compressor = nullptr;  // of its coded calls
  bool has_coded_collectives = false;
  bool has_messages = false;
  bool has_more_exchanges = false;  // than one, in a call
  std::size_t calls_parts = 1;      // most of a call that is carried out in several, in turn
  std::size_t level = 0;            // after all of lower ones

  bool needs_order() const { return has_more_exchanges || (has_coded_collectives && has_messages); }
  bool meets(const Share& other) const {
    return std::ranges::find_first_of(streams, other.streams) != streams.end();
  }
};

// A call in the program's order.
struct Item {
  const Planned* coded = nullptr;
  const KeptRaw* raw = nullptr;
  std::size_t part = 0;
  std::size_t step = 0;
  const Call& call() const { return coded != nullptr ? coded->call : raw->call; }
};

bool has_more_exchanges(const Planned& planned) {
  const Operation of = planned.call.operation;
  const tw_stream_plan_info& info = planned.decision.plan->info;
  return of == kAllReduce || of == kReduce || info.in_levels != 0 || info.slot_bytes[1] != 0;
}

std::vector<Item> items_of(std::span<const Planned> coded, std::span<const KeptRaw> raw) {
  std::vector<Item> items;
  for (const Planned& each : coded) items.push_back({.coded = &each});
  for (const KeptRaw& each : raw) items.push_back({.raw = &each});
  // The parts of a call have one place.
  std::ranges::stable_sort(items, {}, [](const Item& each) { return each.call().place; });
  return items;
}

std::vector<Share> parts_of(std::vector<Item>& items) {
  std::vector<Share> parts;
  for (Item& each : items) {
    const Call& call = each.call();
    auto found = std::ranges::find(parts, call.comm, &Share::comm);
    if (found == parts.end()) found = parts.insert(parts.end(), Share{call.comm});
    each.part = static_cast<std::size_t>(found - parts.begin());
    // NCCL leaves empty collectives out.
    const bool counts = call.elements > 0 || call.is_of_messages();
    if (counts && std::ranges::find(found->streams, call.stream) == found->streams.end())
      found->streams.push_back(call.stream);
    if (each.coded != nullptr) found->compressor = each.coded->compressor;
    if (call.is_of_messages()) {
      found->has_messages = true;
    } else if (each.coded != nullptr) {
      found->has_coded_collectives = true;
    }
    if (each.coded == nullptr) continue;
    found->calls_parts = std::max(found->calls_parts, each.coded->part + 1);
    if (each.coded->part > 0 || has_more_exchanges(*each.coded)) found->has_more_exchanges = true;
  }
  return parts;
}

// Several ranks of one communicator may be this thread's, each on a GPU of its own: their exchanges
// have to be posted together, raw or coded, whatever else is on their streams.
bool are_of_one_device(const std::vector<Share>& parts) {
  const int first = device_of(parts.front().comm);
  return std::ranges::all_of(parts,
                             [&](const Share& each) { return device_of(each.comm) == first; });
}

void set_levels(std::vector<Share>& parts) {
  for (std::size_t at = 1; at < parts.size(); ++at) {
    Share& own = parts[at];
    for (std::size_t before = 0; before < at; ++before) {
      const Share& other = parts[before];
      if (!own.meets(other)) continue;
      const bool follows = own.needs_order() || other.needs_order();
      own.level = std::max(own.level, other.level + (follows ? 1 : 0));
    }
  }
}

// The first step of each level. One has as many as a communicator's calls have parts at the most,
// and one for messages.
std::vector<std::size_t> first_steps(const std::vector<Share>& parts) {
  std::vector<std::size_t> steps(parts.size() + 1, 0);
  for (const Share& each : parts)
    steps[each.level + 1] = std::max(steps[each.level + 1], each.calls_parts + 1);
  for (std::size_t at = 1; at < steps.size(); ++at) steps[at] += steps[at - 1];
  return steps;
}

std::vector<Joined> joined_of(const std::vector<Share>& parts) {
  std::vector<Joined> joined;
  for (const Share& each : parts) {
    if (each.compressor != nullptr && each.streams.size() > 1)
      joined.push_back({each.compressor->device(), each.streams});
  }
  return joined;
}

}  // namespace

bool has_mixed_captures(std::span<const Planned> coded, std::span<const KeptRaw> raw) {
  std::vector<Item> items = items_of(coded, raw);
  return !std::ranges::all_of(parts_of(items), are_captured_alike, &Share::streams);
}

Rest in_steps(std::span<const Planned> coded, std::span<const KeptRaw> raw) {
  std::vector<Item> items = items_of(coded, raw);
  std::vector<Share> parts = parts_of(items);
  if (parts.size() > 1 && are_of_one_device(parts)) set_levels(parts);
  const std::vector<std::size_t> first = first_steps(parts);
  for (Item& each : items) {
    const Share& of = parts[each.part];
    const bool follows = of.has_coded_collectives && each.call().is_of_messages();
    const std::size_t part = each.coded != nullptr ? each.coded->part : 0;
    each.step = first[of.level] + (follows ? of.calls_parts : part);
  }
  std::ranges::stable_sort(items, {}, &Item::step);
  Rest made;
  made.joined = joined_of(parts);
  const Item* last = nullptr;
  for (const Item& each : items) {
    if (last == nullptr || last->step != each.step) made.steps.emplace_back();
    last = &each;
    Step& step = made.steps.back();
    if (each.coded != nullptr) {
      made.calls.push_back(*each.coded);
      ++step.coded;
    } else {
      made.raw.push_back(*each.raw);
      made.raw.back().after = step.coded;
      ++step.raw;
    }
  }
  return made;
}

}  // namespace thinwire::nccl
