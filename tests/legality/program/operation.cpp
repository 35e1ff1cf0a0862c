#include "collective.h"

#include <algorithm>
#include <limits>

namespace legality {

using enum CollectiveKind;

Operation::Operation(const Group& group, const Drawn& drawn, Random own)
    : group_(group), drawn_(drawn) {
  with_.root = drawn.root;
  with_.op = operation_of(drawn_);
  if (drawn_.reduces()) prepare_reduction(own);
  if (!drawn_.reduces() && drawn_.kind != kBarrier) prepare_moves(own);
  if (with_.from == nullptr) with_.from = with_.sends.address();
  if (with_.from == MPI_IN_PLACE || with_.to_in_place) mark(Feature::in_place_);
}

Operation::~Operation() {
  if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  free_operation(drawn_, with_.op);
}

int Operation::steps(int sender, int receiver) const {
  return drawn_.steps[static_cast<std::size_t>(sender * group_.size + receiver)];
}

std::vector<int> Operation::from_all(int receiver) const {
  std::vector<int> all;
  for (int sender = 0; sender < group_.size; ++sender) all.push_back(steps(sender, receiver));
  return all;
}

std::vector<int> Operation::to_all(int sender) const {
  std::vector<int> all;
  for (int receiver = 0; receiver < group_.size; ++receiver) all.push_back(steps(sender, receiver));
  return all;
}

void Operation::prepare_moves(Random& own) {
  const int rank = group_.rank, root = drawn_.root;
  const bool in_v = drawn_.kind == kGatherv || drawn_.kind == kScatterv ||
                    drawn_.kind == kAllgatherv || drawn_.kind == kAlltoallv;
  const bool alone = drawn_.kind == kAllgatherv && group_.size == 1;
  const bool spread = in_v && (!alone || admit(Feature::allgatherv_alone_with_places_));
  const Placing many = drawn_.kind == kAlltoallw ? Placing::kTyped
                       : spread                  ? Placing::kSpread
                                                 : Placing::kPacked;
  const Placing one = Placing::kPacked;
  const auto make = [&](int number, const std::vector<int>& steps, Placing placing) {
    const Random random = drawn_.same_layouts ? Random(drawn_.key) : own;
    return make_blocks(random.part(static_cast<std::uint64_t>(number)), drawn_.signature, steps,
                       placing, join(drawn_.key, static_cast<std::uint64_t>(number)),
                       drawn_.units_of_item);
  };
  const bool gathers = drawn_.kind == kGather || drawn_.kind == kGatherv;
  const bool scatters = drawn_.kind == kScatter || drawn_.kind == kScatterv;
  const bool to_each = drawn_.kind == kAllgather || drawn_.kind == kAllgatherv;
  if (drawn_.kind == kBcast) {
    with_.receives = make(1, {1}, one);
  } else if (gathers) {
    if (is_root()) with_.receives = make(1, from_all(root), many);
    if (is_root() && drawn_.in_place) with_.from = MPI_IN_PLACE;
    if (with_.from == nullptr) with_.sends = make(2, {steps(rank, root)}, one);
  } else if (scatters) {
    if (is_root()) with_.sends = make(2, to_all(root), many);
    with_.to_in_place = is_root() && drawn_.in_place;
    if (!with_.to_in_place) with_.receives = make(1, {steps(root, rank)}, one);
  } else {
    with_.receives = make(1, to_each ? from_all(0) : from_all(rank), many);
    if (drawn_.in_place) with_.from = MPI_IN_PLACE;
    if (!drawn_.in_place && to_each) with_.sends = make(2, {steps(rank, 0)}, one);
    if (!drawn_.in_place && !to_each) with_.sends = make(2, to_all(rank), many);
  }
}

void Operation::prepare_reduction(Random& own) {
  const auto make = [&](int number, const std::vector<int>& steps) {
    return make_blocks(own.part(static_cast<std::uint64_t>(number)), drawn_.signature, steps,
                       Placing::kPlain, join(drawn_.key, static_cast<std::uint64_t>(number)));
  };
  const bool scatters = drawn_.kind == kReduceScatter || drawn_.kind == kReduceScatterBlock;
  const bool in_place = drawn_.in_place && (drawn_.kind != kReduce || is_root());
  const std::vector<int> all = scatters ? from_all(0) : std::vector<int>{1};
  if (in_place) {
    with_.from = MPI_IN_PLACE;
    with_.receives = make(1, all);
    with_.sends.counts = with_.receives.counts, with_.sends.types = with_.receives.types;
    return;
  }
  with_.sends = make(2, all);
  const std::vector<int> own_block{scatters ? steps(group_.rank, 0) : 1};
  if (drawn_.kind != kReduce || is_root()) with_.receives = make(1, own_block);
}

void Operation::renew(int round) {
  drawn_.round = round;
  for (Blocks* blocks : {&with_.sends, &with_.receives}) {
    if (!blocks->buffer) continue;
    if (round > 0 && drawn_.read_only) blocks->buffer->writable();
    blocks->buffer->reset();
  }
  if (drawn_.reduces()) fill_reduction();
  if (!drawn_.reduces() && drawn_.kind != kBarrier) fill_moves();
  if (!drawn_.read_only) return;
  if (with_.sends.buffer) with_.sends.buffer->read_only(), mark(Feature::read_only_);
  if (drawn_.kind == kBcast && is_root() && admit(Feature::read_only_root_))
    with_.receives.buffer->read_only();
}

void Operation::fill_moves() {
  const int rank = group_.rank, root = drawn_.root;
  Buffer *sends = with_.sends.buffer.get(), *receives = with_.receives.buffer.get();
  const bool to_each = drawn_.kind == kAllgather || drawn_.kind == kAllgatherv;
  const bool gathers = drawn_.kind == kGather || drawn_.kind == kGatherv;
  const bool scatters = drawn_.kind == kScatter || drawn_.kind == kScatterv;
  const auto expect = [&](int piece, const Content& content) {
    receives->expect(content, piece, receives->piece(piece).elements());
  };
  if (drawn_.kind == kBcast) {
    if (is_root()) receives->fill(drawn_.content_of(root, 0));
    return expect(0, drawn_.content_of(root, 0));
  }
  if (gathers || to_each) {
    if (sends) sends->fill(drawn_.content_of(rank, 0));
    if (with_.from == MPI_IN_PLACE) receives->fill(drawn_.content_of(rank, 0), rank);
    for (int block = 0; receives && block < group_.size; ++block)
      expect(block, drawn_.content_of(block, 0));
    return;
  }
  if (scatters) {
    for (int block = 0; sends && block < group_.size; ++block)
      sends->fill(drawn_.content_of(root, block), block);
    if (receives) expect(0, drawn_.content_of(root, rank));
    return;
  }
  for (int block = 0; block < group_.size; ++block) {
    (sends ? sends : receives)->fill(drawn_.content_of(rank, block), block);
    expect(block, drawn_.content_of(block, rank));
  }
}

void Operation::fill_reduction() {
  Buffer *sends = with_.sends.buffer.get(), *receives = with_.receives.buffer.get();
  Buffer& from = sends ? *sends : *receives;
  const bool scatters = drawn_.kind == kReduceScatter || drawn_.kind == kReduceScatterBlock;
  // Blocks of one array: an element's value goes by its place in all of them.
  const int blocks = scatters ? group_.size : 1;
  int before = 0;
  for (int block = 0; block < blocks; ++block) {
    const int elements = from.piece(block).elements();
    for (int element = 0; element < elements; ++element)
      from.fill_value(block, element, drawn_.content_of(group_.rank, 0), before + element);
    before += elements;
  }
  if (!receives || (drawn_.kind == kExscan && group_.rank == 0)) return;
  const int each = drawn_.signature.elements();
  int first = 0;
  for (int block = 0; scatters && block < group_.rank; ++block) first += each * steps(block, 0);
  const int length = each * (scatters ? steps(group_.rank, 0) : 1);
  const int ranks = drawn_.kind == kScan     ? group_.rank + 1
                    : drawn_.kind == kExscan ? group_.rank
                                             : group_.size;
  expect_reduced(drawn_, *receives, length, first, ranks);
}

void Operation::call() {
  MUST(call_collective(drawn_, with_, group_.comm, &request_));
  if (drawn_.flavour != Flavour::kBlocking) give_back_early();
}

// Spoils the arrays and types that the call was given: they are the program's again.
void Operation::give_back_early() {
  if (drawn_.counts_freed && drawn_.flavour == Flavour::kStarted) {
    for (Blocks* blocks : {&with_.sends, &with_.receives}) {
      if (blocks->counts.size() > 1) mark(Feature::counts_freed_);
      std::fill(blocks->counts.begin(), blocks->counts.end(), 0x7f7f7f);
      std::fill(blocks->places.begin(), blocks->places.end(), 0x7f7f7f);
    }
  }
  if (!drawn_.types_freed) return;
  const bool persistent = drawn_.flavour == Flavour::kPersistent;
  if (persistent && !admit(Feature::persistent_collective_types_freed_)) return;
  for (Blocks* blocks : {&with_.sends, &with_.receives})
    for (const auto& type : blocks->owned) type->release();
}

std::string Operation::name_of(const char* what) const {
  static const char* const kinds[] = {
      "Barrier",   "Bcast",     "Gather",     "Gatherv",        "Scatter",
      "Scatterv",  "Allgather", "Allgatherv", "Alltoall",       "Alltoallv",
      "Alltoallw", "Reduce",    "Allreduce",  "Reduce_scatter", "Reduce_scatter_block",
      "Scan",      "Exscan"};
  static const char* const flavours[] = {"blocking", "non-blocking", "persistent"};
  return std::string("what a ") + flavours[static_cast<int>(drawn_.flavour)] + " " +
         kinds[static_cast<int>(drawn_.kind)] + " of " + std::to_string(group_.size) +
         (drawn_.in_place ? " in place " : " ") + what;
}

void Operation::check(Record& record) {
  Buffer *sends = with_.sends.buffer.get(), *receives = with_.receives.buffer.get();
  if (sends) sends->check(record, name_of("sent").c_str(), 0);
  if (!receives) return;
  const bool scatters = drawn_.kind == kReduceScatter || drawn_.kind == kReduceScatterBlock;
  if (scatters && with_.from == MPI_IN_PLACE)
    receives->forget_from(drawn_.signature.elements() * steps(group_.rank, 0));
  if (drawn_.kind == kExscan && group_.rank == 0) return;
  const bool product = drawn_.reduces() && drawn_.operation == 1;
  double codings = drawn_.reduces() ? 2.0 * group_.size : 1;
  if (product) codings = std::numeric_limits<double>::infinity();
  if (drawn_.kind == kBcast && is_root()) codings = 0;
  receives->check(record, name_of("received").c_str(), codings);
  if (options.lossy) compare_ranks();
}

// Checks that the ranks agree in all in which they must, lossy or not.
void Operation::compare_ranks() {
  const bool alike = drawn_.kind == kBcast || drawn_.kind == kAllgather ||
                     drawn_.kind == kAllgatherv || drawn_.kind == kAllreduce;
  if (!alike) return;
  const Buffer& buffer = *with_.receives.buffer;
  std::uint64_t own = 0;
  for (int piece = 0; piece < static_cast<int>(with_.receives.counts.size()); ++piece)
    own = join(own, buffer.hash_of(piece, buffer.piece(piece).elements()));
  std::vector<std::uint64_t> all(static_cast<std::size_t>(group_.size));
  MUST(MPI_Allgather(&own, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, group_.comm));
  // The root of a Bcast keeps its own values.
  const int other = drawn_.kind == kBcast && drawn_.root == 0 && group_.size > 1 ? 1 : 0;
  if (drawn_.kind == kBcast && is_root()) return;
  if (own != all[static_cast<std::size_t>(other)])
    complain(name_of("received") + " differs between ranks");
}

}  // namespace legality
