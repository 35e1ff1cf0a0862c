#include "program.h"

#include <algorithm>
#include <map>
#include <memory>
#include <thread>

#include "marks.h"

namespace legality {
namespace {

struct CommEnd {
  void operator()(tw_comm* comm) const { tw_comm_destroy(comm); }
};
using CommPointer = std::unique_ptr<tw_comm, CommEnd>;

// The operations of one time: one, or one on each of two makes of communicators.
struct Step {
  std::vector<int> makes;
  std::uint64_t number = 0;
};

// A rank's position among the groups of a make.
struct Seat {
  int group = 0, rank = 0, size = 0;
};

Seat seat_of(const Make& make, int rank) {
  for (std::size_t group = 0; group < make.groups.size(); ++group) {
    const std::vector<int>& ranks = make.groups[group];
    const auto at = std::find(ranks.begin(), ranks.end(), rank);
    if (at != ranks.end())
      return {static_cast<int>(group), static_cast<int>(at - ranks.begin()),
              static_cast<int>(ranks.size())};
  }
  return {};
}

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(Random(seed).part(1)) { draw(Random(seed)); }

  void run() {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank)
      threads.emplace_back([this, rank] { run_rank(rank); });
    for (std::thread& thread : threads) thread.join();
    for (const Step& step : steps_)
      for (const int make : step.makes) compare(step, make);
  }

 private:
  void draw(Random random) {
    ranks_ = random.between(1, 6);
    mark(ranks_ == 1 ? Feature::one_rank_ : Feature::many_ranks_);
    const int makes = random.between(1, 3);
    for (int make = 0; make < makes; ++make)
      makes_.push_back(
          draw_make(random.part(static_cast<std::uint64_t>(make)), ranks_, random.chance(60)));
    if (makes > 1) mark(Feature::several_communicators_);
    disagree_ = random.chance(15) && ranks_ > 1;
    const int steps = random.between(3, 8);
    for (int at = 0; at < steps; ++at) {
      Step step{{random.below(makes)}, static_cast<std::uint64_t>(at)};
      if (makes > 1 && random.chance(30)) {
        step.makes.push_back((step.makes[0] + random.between(1, makes - 1)) % makes);
        mark(Feature::concurrent_);
      }
      steps_.push_back(step);
    }
    make_room();
  }

  // Transports, and room for what becomes of every operation: nothing is made where threads are.
  void make_room() {
    for (std::size_t make = 0; make < makes_.size(); ++make)
      for (std::size_t group = 0; group < makes_[make].groups.size(); ++group)
        connect(transports_[{make, group}], makes_[make].groups[group].size());
    if (disagree_) connect(odd_, static_cast<std::size_t>(ranks_));
    for (const Step& step : steps_)
      for (const int make : step.makes)
        for (std::size_t group = 0; group < makes_[static_cast<std::size_t>(make)].groups.size();
             ++group)
          outcomes_[{step.number, make, group}].resize(
              makes_[static_cast<std::size_t>(make)].groups[group].size());
  }

  static void connect(std::vector<tw_transport>& ends, std::size_t ranks) {
    ends.resize(ranks);
    for (tw_transport& end : ends) end.size = sizeof end;
    if (tw_transport_local(static_cast<std::uint32_t>(ranks), ends.data()) != TW_OK)
      complain("no local transport");
  }

  Drawn drawn(const Step& step, int make, int group) const {
    const Make& made = makes_[static_cast<std::size_t>(make)];
    const int size = static_cast<int>(made.groups[static_cast<std::size_t>(group)].size());
    const std::uint64_t place = step.number * 100 + static_cast<std::uint64_t>(make * 10 + group);
    return draw_operation(random_.part(place), made, size);
  }

  static tw_status create(const tw_transport& transport, const Make& make, std::uint64_t threshold,
                          CommPointer& comm) {
    tw_comm_options options{};
    options.size = sizeof options;
    options.codec = make.spec.codec.get();
    options.threshold = threshold, options.piece_bytes = make.piece_bytes;
    options.same_node = make.same_node, options.link_bytes_per_second = make.link;
    const std::vector<std::int32_t> nodes = make.nodes(transport.ranks);
    if (make.has_nodes) options.nodes = nodes.data(), mark(Feature::nodes_);
    if (make.has_job) options.job = "job 7", options.job_bytes = 5, mark(Feature::job_);
    if (make.same_node) mark(Feature::same_node_);
    if (make.piece_bytes > 0) mark(Feature::pieces_);
    if (make.threshold > 0) mark(Feature::threshold_);
    if (make.link > 0) mark(Feature::link_);
    if (make.groups.size() > 1) mark(Feature::parts_);
    tw_comm* made = nullptr;
    const tw_status status = tw_comm_create(&transport, &options, &made);
    comm.reset(made);
    return status;
  }

  // Ranks that do not agree are all told.
  void disagree(int rank) {
    CommPointer comm;
    const tw_status status =
        create(odd_[static_cast<std::size_t>(rank)], makes_[0], rank == 1 ? 7 : 5, comm);
    if (status != TW_VERSION)
      complain("ranks that differ came to status " + std::to_string(status));
    mark(Feature::differing_options_);
  }

  void run_rank(int rank) {
    std::vector<CommPointer> comms(makes_.size());
    if (disagree_) disagree(rank);
    for (std::size_t make = 0; make < makes_.size(); ++make) {
      const Seat seat = seat_of(makes_[make], rank);
      const std::vector<tw_transport>& ends =
          transports_.at({make, static_cast<std::size_t>(seat.group)});
      const tw_status status = create(ends[static_cast<std::size_t>(seat.rank)], makes_[make],
                                      makes_[make].threshold, comms[make]);
      if (status != TW_OK) return complain(std::string("no communicator: ") + tw_last_error());
    }
    for (const Step& step : steps_) {
      std::thread beside;
      const auto one = [&](int make) {
        run_one(step, make, rank, comms[static_cast<std::size_t>(make)].get());
      };
      if (step.makes.size() > 1) beside = std::thread(one, step.makes[1]);
      one(step.makes[0]);
      if (beside.joinable()) beside.join();
    }
  }

  void run_one(const Step& step, int make, int rank, tw_comm* comm) {
    const Seat seat = seat_of(makes_[static_cast<std::size_t>(make)], rank);
    outcomes_.at({step.number, make, static_cast<std::size_t>(seat.group)})
        .at(static_cast<std::size_t>(seat.rank)) =
        run_operation(comm, drawn(step, make, seat.group), seat.rank, seat.size);
  }

  void compare(const Step& step, int make) const {
    for (std::size_t group = 0; group < makes_[static_cast<std::size_t>(make)].groups.size();
         ++group)
      compare_ranks(drawn(step, make, static_cast<int>(group)),
                    outcomes_.at({step.number, make, group}));
  }

  Random random_;
  int ranks_ = 1;
  bool disagree_ = false;
  std::vector<Make> makes_;
  std::vector<Step> steps_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<tw_transport>> transports_;
  std::vector<tw_transport> odd_;
  std::map<std::tuple<std::uint64_t, int, std::size_t>, std::vector<Outcome>> outcomes_;
};

}  // namespace

void run_program(std::uint64_t seed) { Program(seed).run(); }

}  // namespace legality
