#include "order.h"

#include <utility>

namespace thinwire::collective::testing {

namespace {

// The flaw of a step by itself; nullptr if there is none.
const char* flaw_of(const Collective& collective, int rank, const Schedule& schedule,
                    const Step& step) {
  const auto may_touch = [&](Area area) {
    if (area == Area::kScratch) return step.scratch < schedule.scratch;
    return area == Area::kInput ? has_input(collective, rank, step.block)
                                : has_output(collective, rank, step.block);
  };
  if (step.block >= schedule.blocks) return "no such block";
  if (uses_slot(step.action) && step.slot >= schedule.slots) return "no such slot";
  if (reads_values(step.action) && !may_touch(step.from)) return "reads what is not there";
  if (writes_values(step.action)) {
    if (step.to == Area::kInput) return "writes the user's input";
    if (!may_touch(step.to)) return "writes where nothing is";
    if (step.to == Area::kOutput && keeps_values(collective, rank))
      return "writes the root's values";
  }
  if (sends(step.action) || receives(step.action)) {
    if (step.peer < 0 || step.peer >= collective.size || step.peer == rank) return "no such peer";
  }
  return nullptr;
}

std::uint32_t place_of(const Collective& collective, const Places& places, const Step& step,
                       Area area, int window) {
  if (area == Area::kScratch) return places.scratch + step.scratch;
  return area == Area::kInput ? places.input(collective, window, step.block)
                              : places.output(window, step.block);
}

// The happenings of one rank, in the order of its windows and steps.
std::string add_rank(const Collective& collective, int rank, const Places& places,
                     Timeline& timeline) {
  const Schedule& schedule = collective.ranks[static_cast<std::size_t>(rank)];
  if (schedule.blocks != collective.ranks[0].blocks) return "ranks differ in their blocks";
  for (int window = 0; window < collective.windows; ++window) {
    for (std::uint32_t number = 0; number < schedule.steps.size(); ++number) {
      const Step& step = schedule.steps[number];
      Happening happening{.step = &step,
                          .rank = static_cast<std::uint16_t>(rank),
                          .window = static_cast<std::uint16_t>(window),
                          .number = number};
      if (const char* flaw = flaw_of(collective, rank, schedule, step)) {
        return where(happening) + ": " + flaw;
      }
      if (is_empty(collective, meaning(collective, rank, step.block))) continue;
      if (uses_slot(step.action)) happening.slot = places.slots + step.slot;
      if (reads_values(step.action)) {
        happening.from = place_of(collective, places, step, step.from, window);
      }
      if (writes_values(step.action)) {
        happening.to = place_of(collective, places, step, step.to, window);
      }
      if (step.action == Action::kAddExactly) happening.added = schedule.scratch;
      // In place it has nothing to do.
      if (step.action == Action::kCopy && happening.from == happening.to) continue;
      timeline.happenings.push_back(happening);
    }
  }
  return {};
}

// Messages between two ranks meet in the order in which they are posted.
std::string match(const Collective& collective, std::vector<Happening>& happenings) {
  const auto size = static_cast<std::size_t>(collective.size);
  std::vector<std::vector<std::uint32_t>> sent(size * size), received(size * size);
  for (std::uint32_t at = 0; at < happenings.size(); ++at) {
    const Happening& happening = happenings[at];
    const auto peer = static_cast<std::size_t>(happening.step->peer);
    if (sends(happening.step->action)) sent[happening.rank * size + peer].push_back(at);
    if (receives(happening.step->action)) received[peer * size + happening.rank].push_back(at);
  }
  for (std::size_t pair = 0; pair < sent.size(); ++pair) {
    if (sent[pair].size() != received[pair].size()) {
      return "from rank " + std::to_string(pair / size) + " to " + std::to_string(pair % size) +
             " go " + std::to_string(sent[pair].size()) + " messages, and " +
             std::to_string(received[pair].size()) + " are awaited";
    }
    for (std::size_t i = 0; i < sent[pair].size(); ++i) {
      happenings[sent[pair][i]].other = received[pair][i];
      happenings[received[pair][i]].other = sent[pair][i];
    }
  }
  return {};
}

// The order of what must come before what: pairs of begins (2 n) and completions (2 n + 1).
class Graph {
 public:
  Graph(const Collective& collective, const Timeline& timeline)
      : happenings_(timeline.happenings),
        uses_(timeline.slots + timeline.values),
        sources_(timeline.slots, kNone),
        slots_(timeline.slots),
        in_order_(collective.posted_in_order),
        size_(static_cast<std::size_t>(collective.size)),
        last_posted_(2 * size_ * size_, kNone) {
    for (std::uint32_t at = 0; at < happenings_.size(); ++at) add(at);
  }

  // Stops if a circle is left.
  std::vector<std::uint32_t> sorted() const {
    std::vector<std::uint32_t> waits(2 * happenings_.size()), first(2 * happenings_.size() + 1);
    for (const auto& [before, after] : edges_) ++waits[after], ++first[before + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    std::vector<std::uint32_t> followers(edges_.size());
    auto free = first;
    for (const auto& [before, after] : edges_) followers[free[before]++] = after;
    std::vector<std::uint32_t> order;
    order.reserve(waits.size());
    for (std::uint32_t at = 0; at < waits.size(); ++at) {
      if (waits[at] == 0) order.push_back(at);
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
      for (auto i = first[order[done]]; i < first[order[done] + 1]; ++i) {
        if (--waits[followers[i]] == 0) order.push_back(followers[i]);
      }
    }
    return order;
  }

 private:
  struct Use {
    std::uint32_t writer = kNone;
    std::vector<std::uint32_t> readers;
  };

  void add(std::uint32_t at) {
    const Happening& happening = happenings_[at];
    const Action action = happening.step->action;
    edges_.emplace_back(2 * at, 2 * at + 1);
    if (happening.other != kNone) edges_.emplace_back(2 * happening.other, 2 * at + 1);
    if (happening.other != kNone) post(at);
    if (happening.from != kNone) read(at, slots_ + happening.from);
    const bool fills = action == Action::kEncode || action == Action::kReceive;
    if (happening.slot != kNone && !fills) {
      read(at, happening.slot);
      // A packet that is not coded is its values, where they lie.
      const auto source = sources_[happening.slot];
      if (source != kNone) read(at, slots_ + source);
    }
    for (std::uint32_t more = 0; more < happening.added; ++more) {
      read(at, slots_ + happening.to + more);
    }
    if (happening.to != kNone) write(at, slots_ + happening.to);
    if (fills) {
      write(at, happening.slot);
      sources_[happening.slot] = happening.from;
    }
  }

  void post(std::uint32_t at) {
    const Step& step = *happenings_[at].step;
    const std::size_t pair = happenings_[at].rank * size_ + static_cast<std::size_t>(step.peer);
    const std::size_t queue = in_order_ ? happenings_[at].rank : 2 * pair + sends(step.action);
    auto& last = last_posted_[queue];
    if (last != kNone) edges_.emplace_back(2 * last, 2 * at);
    last = at;
  }

  void read(std::uint32_t at, std::uint32_t place) {
    Use& use = uses_[place];
    wait(at, use.writer);
    use.readers.push_back(at);
  }

  void write(std::uint32_t at, std::uint32_t place) {
    Use& use = uses_[place];
    wait(at, use.writer);
    for (const auto reader : use.readers) wait(at, reader);
    use.readers.clear();
    use.writer = at;
  }

  void wait(std::uint32_t at, std::uint32_t for_this) {
    if (for_this != kNone && for_this != at) edges_.emplace_back(2 * for_this + 1, 2 * at);
  }

  const std::vector<Happening>& happenings_;
  std::vector<Use> uses_;  // slots first, then values
  std::vector<std::uint32_t> sources_;
  std::uint32_t slots_;
  bool in_order_;
  std::size_t size_;
  std::vector<std::uint32_t> last_posted_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

}  // namespace

std::string where(const Happening& happening) {
  return "rank " + std::to_string(happening.rank) + ", step " + std::to_string(happening.number) +
         " (window " + std::to_string(happening.window) + ")";
}

std::uint32_t Places::input(const Collective& collective, int window, std::uint32_t block) const {
  if (collective.in_place) return output(window, block);
  return user + 2 * blocks * static_cast<std::uint32_t>(window) + input_of(collective, block);
}

std::uint32_t Places::output(int window, std::uint32_t block) const {
  return user + blocks * (2 * static_cast<std::uint32_t>(window) + 1) + block;
}

std::vector<Places> places_of(const Collective& collective) {
  std::vector<Places> all(1);
  for (const Schedule& schedule : collective.ranks) {
    Places& places = all.back();
    places.blocks = schedule.blocks;
    places.user = places.scratch + schedule.scratch;
    Places next;
    next.slots = places.slots + schedule.slots;
    next.scratch =
        places.user + 2 * schedule.blocks * static_cast<std::uint32_t>(collective.windows);
    all.push_back(next);
  }
  return all;
}

Timeline order_of(const Collective& collective) {
  Timeline timeline;
  const auto places = places_of(collective);
  timeline.slots = places.back().slots;
  timeline.values = places.back().scratch;
  for (int rank = 0; rank < collective.size && timeline.fault.empty(); ++rank) {
    timeline.fault = add_rank(collective, rank, places[static_cast<std::size_t>(rank)], timeline);
  }
  if (timeline.fault.empty()) timeline.fault = match(collective, timeline.happenings);
  if (!timeline.fault.empty()) return timeline;
  timeline.order = Graph(collective, timeline).sorted();
  if (timeline.order.size() == 2 * timeline.happenings.size()) return timeline;
  std::vector<bool> done(2 * timeline.happenings.size());
  for (const auto event : timeline.order) done[event] = true;
  for (std::size_t i = 0; i < timeline.happenings.size(); ++i) {
    if (done[2 * i + 1]) continue;
    timeline.fault = where(timeline.happenings[i]) + " waits for ever";
    break;
  }
  return timeline;
}

}  // namespace thinwire::collective::testing
