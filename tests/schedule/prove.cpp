#include "prove.h"

#include <algorithm>

#include "order.h"

namespace thinwire::collective::testing {

namespace {

// Values of a block: whose contributions they are made of, and how they came to be. Two that have
// the same `bits` went through the same operations on the same numbers.
struct Value {
  std::uint64_t ranks = 0;  // none: never written
  std::uint64_t bits = 0;
  std::uint64_t codings = 0;
  std::uint32_t block = 0;
};

// The content of a slot: what it decodes to, and where it was encoded from.
struct Packet {
  Value value;
  std::uint32_t source = kNone;
  std::uint64_t version = 0;  // of the source's values then
};

std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}

class Machine {
 public:
  Machine(const Collective& collective, const Timeline& timeline)
      : collective_(collective),
        timeline_(timeline),
        places_(places_of(collective)),
        values_(timeline.values),
        versions_(timeline.values),
        packets_(timeline.slots),
        travelling_(timeline.happenings.size()) {
    for (int rank = 0; rank < collective.size; ++rank) {
      for (int window = 0; window < collective.windows; ++window) fill(rank, window);
    }
  }

  std::string run() {
    for (const auto event : timeline_.order) {
      const Happening& happening = timeline_.happenings[event / 2];
      const bool complete = event % 2 == 1;
      // A send takes its values where it begins, all else happens where it is complete.
      if (sends(happening.step->action) == complete) continue;
      happen(happening, event / 2);
      if (!fault_.empty()) return where(happening) + ": " + fault_;
    }
    return {};
  }

  std::string check(std::uint64_t& codings) const {
    for (int window = 0; window < collective_.windows; ++window) {
      for (std::uint32_t block = 0; block < collective_.ranks[0].blocks; ++block) {
        if (auto fault = check_block(window, block, codings); !fault.empty()) return fault;
      }
    }
    return {};
  }

 private:
  void fill(int rank, int window) {
    const Places& places = places_[static_cast<std::size_t>(rank)];
    for (std::uint32_t block = 0; block < places.blocks; ++block) {
      const bool bcast = collective_.operation == Operation::kBcast;
      if (!bcast && !has_input(collective_, rank, block)) continue;
      const auto place =
          bcast ? places.output(window, block) : places.input(collective_, window, block);
      values_[place] = {.ranks = given(collective_, rank),
                        .bits = next_bits_++,
                        .block = meaning(collective_, rank, block)};
    }
  }

  // Takes values to use them as a step says.
  Value use(const Value& value, const Happening& happening) {
    if (value.ranks == 0) fault_ = "there are no values yet";
    if (value.block != meaning(collective_, happening.rank, happening.step->block)) {
      fault_ = "values of another block";
    }
    return value;
  }

  Value use(const Packet& packet, const Happening& happening) {
    if (packet.source != kNone && versions_[packet.source] != packet.version) {
      fault_ = "the values of a packet have changed since";
    }
    return use(packet.value, happening);
  }

  void put(std::uint32_t place, const Value& value) {
    values_[place] = value;
    ++versions_[place];
  }

  void add(std::uint32_t place, const Value& value, const Happening& happening) {
    Value sum = use(values_[place], happening);
    if ((sum.ranks & value.ranks) != 0) fault_ = "a contribution is added twice";
    sum.ranks |= value.ranks;
    sum.codings += value.codings;
    sum.bits = mix(mix(sum.bits) + mix(value.bits));
    put(place, sum);
  }

  void fill_slot(const Happening& happening) {
    Value value = use(values_[happening.from], happening);
    if (!happening.step->is_raw) {
      ++value.codings;
      value.bits = collective_.equal_packets ? mix(value.bits ^ 1) : next_bits_++;
    }
    packets_[happening.slot] = {value, happening.from, versions_[happening.from]};
  }

  void open_slot(const Happening& happening) {
    Packet& packet = packets_[happening.slot];
    put(happening.to, use(packet, happening));
    // At their source the values are what the packet holds, coded or not.
    if (packet.source == happening.to) packet.version = versions_[happening.to];
  }

  void happen(const Happening& happening, std::uint32_t number) {
    switch (happening.step->action) {
      case Action::kCopy:
        return put(happening.to, use(values_[happening.from], happening));
      case Action::kCombine:
        return add(happening.to, use(values_[happening.from], happening), happening);
      case Action::kEncode:
        return fill_slot(happening);
      case Action::kDecode:
        return open_slot(happening);
      case Action::kReduce:
        return add(happening.to, use(packets_[happening.slot], happening), happening);
      case Action::kAddExactly:
        for (std::uint32_t more = 1; more < happening.added; ++more) {
          add(happening.to, use(values_[happening.to + more], happening), happening);
        }
        return;
      case Action::kSend:
        travelling_[number] = use(packets_[happening.slot], happening);
        return;
      case Action::kSendValues:
        travelling_[number] = use(values_[happening.from], happening);
        return;
      case Action::kReceive:
      case Action::kReceiveValues:
        return arrive(happening);
    }
  }

  void arrive(const Happening& happening) {
    const Happening& sent = timeline_.happenings[happening.other];
    const bool packet = happening.step->action == Action::kReceive;
    if (sent.window != happening.window) fault_ = "a message of another window";
    if (packet != (sent.step->action == Action::kSend)) fault_ = "a packet is no values";
    const Value value = use(travelling_[happening.other], happening);
    if (packet) {
      packets_[happening.slot] = {.value = value};
    } else {
      put(happening.to, value);
    }
  }

  const Value& root_value(int window, std::uint32_t block) const {
    return values_[places_[static_cast<std::size_t>(collective_.root)].output(window, block)];
  }

  std::string check_block(int window, std::uint32_t block, std::uint64_t& codings) const {
    const Value* first = nullptr;
    std::uint64_t most = 0;
    for (int rank = 0; rank < collective_.size; ++rank) {
      if (!has_output(collective_, rank, block)) continue;
      const auto block_meaning = meaning(collective_, rank, block);
      if (is_empty(collective_, block_meaning)) continue;
      const Value& value = values_[places_[static_cast<std::size_t>(rank)].output(window, block)];
      const auto place = "rank " + std::to_string(rank) + ", block " + std::to_string(block);
      if (value.ranks == 0) return place + ": no result";
      if (value.block != block_meaning) return place + ": another block's result";
      if (value.ranks != wanted(collective_, block)) return place + ": contributions lack";
      most = std::max(most, value.codings);
      if (keeps_values(collective_, rank)) continue;
      if (first == nullptr) first = &value;
      if (collective_.identical && value.bits != first->bits) return place + ": other bits";
    }
    codings = std::max(codings, most);
    if (collective_.root_decodes && most > 0 && root_value(window, block).codings == 0) {
      return "the root did not decode block " + std::to_string(block);
    }
    return {};
  }

  const Collective& collective_;
  const Timeline& timeline_;
  std::vector<Places> places_;
  std::vector<Value> values_;
  std::vector<std::uint64_t> versions_;
  std::vector<Packet> packets_;
  std::vector<Value> travelling_;  // by the sending happening
  std::uint64_t next_bits_ = 1;
  std::string fault_;
};

}  // namespace

Proof prove(const Collective& collective) {
  Proof proof;
  const auto timeline = order_of(collective);
  proof.fault = timeline.fault;
  if (!proof.fault.empty()) return proof;
  Machine machine(collective, timeline);
  proof.fault = machine.run();
  if (proof.fault.empty()) proof.fault = machine.check(proof.codings);
  return proof;
}

}  // namespace thinwire::collective::testing
