#include "simulate/simulate.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bytes.h"
#include "collective/engine.h"
#include "simulate/engine.h"

namespace thinwire::simulate {
namespace {

using plan::Algorithm;
using plan::Operation;

// Some 100 bytes each.
constexpr std::uint64_t kMostTasks = 1'500'000;
constexpr std::uint64_t kTasksOfAny = 30'000'000;

void count_messages(const Graph& graph, const Call& call, const Machine& machine, const Fold& fold,
                    Figures& figures) {
  const double each = static_cast<double>(call.ranks()) / fold.actors();
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(fold.actors()));
  double link = 0, inside = 0;
  for (const Item& item : graph.items) {
    if (!is_send(item.action)) continue;
    const bool is_coded = call.coded() && item.action == collective::Action::kSend;
    (item.inside ? inside : link) += item.bytes / (is_coded ? machine.codec.ratio : 1);
    ++sent[item.actor];
  }
  std::uint64_t all = 0;
  for (const std::uint64_t one : sent) all += one;
  figures.link_bytes = counted(link * each);
  figures.inside_bytes = counted(inside * each);
  figures.messages = counted(static_cast<double>(all) * each);
  figures.most_messages = *std::ranges::max_element(sent);
}

// As Communicator::acquire() asks for it.
Result<std::uint64_t> workspace_of(const Graph& graph, const Call& call) {
  const collective::EngineSettings settings{.spec = call.spec, .dtype = call.dtype};
  const collective::Engine engine(settings, nullptr);
  const auto piece = static_cast<std::uint64_t>(graph.piece);
  const auto packet = engine.most_bytes(Shape::line(piece / dtype_size(call.dtype)));
  if (!packet.ok()) return packet.status();
  return counted(static_cast<double>(graph.packets) * static_cast<double>(aligned(*packet)) +
                 static_cast<double>(graph.scratch_pieces) * static_cast<double>(aligned(piece)));
}

Result<Figures> simulate_with(const Call& call, const Machine& machine, const Fold& fold,
                              double* too_many = nullptr) {
  double excess = 1;
  const auto graph = make_graph(call, fold, excess);
  if (too_many != nullptr) *too_many = excess;
  if (!graph.ok()) return graph.status();
  Figures figures{.tasks = graph->items.size(), .piece_bytes = call.piece_bytes};
  figures.simulated = static_cast<std::uint32_t>(fold.actors());
  if (graph->items.empty()) return figures;
  const auto workspace = workspace_of(*graph, call);
  if (!workspace.ok()) return workspace.status();
  figures.workspace = *workspace;
  const auto seconds = run(*graph, machine, call, fold);
  if (!seconds.ok()) return seconds.status();
  figures.seconds = *seconds;
  count_messages(*graph, call, machine, fold, figures);
  return all_counted(figures);
}

// All ranks, else those of one node if they may stand for all, else all in longer pieces. Pieces of
// whole blocks are as few as there can be: then many tasks have to do.
Result<Figures> simulate_one(Call call, const Machine& machine) {
  const Symmetry symmetry = call.folds ? symmetry_of(call) : Symmetry::kNone;
  const Fold whole(Symmetry::kNone, call.nodes, call.per_node);
  const std::uint64_t bytes = call.count * dtype_size(call.dtype);
  while (true) {
    double excess = 1;
    auto figures = simulate_with(call, machine, whole, &excess);
    if (figures.ok() || figures.status().code() != StatusCode::kTooSmall) return figures;
    if (symmetry != Symmetry::kNone) {
      figures = simulate_with(call, machine, Fold(symmetry, call.nodes, call.per_node), &excess);
      if (figures.ok() || figures.status().code() != StatusCode::kTooSmall) return figures;
    }
    if (call.piece_bytes >= bytes) break;
    const auto longer = std::bit_ceil(static_cast<std::uint64_t>(std::clamp(excess, 2.0, 1e6)));
    const bool has_room = call.piece_bytes <= UINT64_MAX / 4 / longer;
    call.piece_bytes = has_room ? call.piece_bytes * longer : bytes;
  }
  call.most_tasks = kTasksOfAny;
  if (symmetry == Symmetry::kNone) return simulate_with(call, machine, whole);
  return simulate_with(call, machine, Fold(symmetry, call.nodes, call.per_node));
}

// A Reduce by owners of parts is a Reduce-scatter of those parts, of which all nodes do the same,
// and a Gather of the sums at the root.
Result<Figures> simulate_in_two(const Call& call, const Machine& machine) {
  Call adds = call, gathers = call;
  adds.operation = Operation::kReduceScatter;
  gathers.operation = Operation::kGather;
  gathers.algorithm = Algorithm::kDirect;
  adds.count = gathers.count = ceil_div(call.count, static_cast<std::uint64_t>(call.ranks()));
  const auto sums = simulate_one(adds, machine);
  if (!sums.ok()) return sums;
  auto both = simulate_one(gathers, machine);
  if (!both.ok()) return both;
  both->seconds += sums->seconds;
  both->link_bytes += sums->link_bytes;
  both->inside_bytes += sums->inside_bytes;
  both->messages += sums->messages;
  both->most_messages = std::max(both->most_messages, sums->most_messages + 1);
  both->workspace = std::max(both->workspace, sums->workspace);
  both->tasks += sums->tasks;
  return both;
}

// An array of fewer boxes than there are ranks leaves some without a part: what goes round then is
// no shorter than a box. It takes as long as one box alone, at least.
Result<Figures> no_sooner_than_one_part(Result<Figures> figures, Call call,
                                        const Machine& machine) {
  if (!figures.ok() || figures->simulated == 0) return figures;
  const std::uint64_t longest = longest_part(call);
  if (longest * static_cast<std::uint64_t>(call.ranks()) <= call.count + longest) return figures;
  call.count = longest;
  call.most_tasks = kTasksOfAny;
  const auto one = simulate_with(call, machine, Fold(Symmetry::kNone, call.nodes, call.per_node));
  if (!one.ok()) return one;
  figures->seconds = std::max(figures->seconds, one->seconds);
  figures->workspace = std::max(figures->workspace, one->workspace);
  return figures;
}

}  // namespace

Result<Figures> simulate(const Call& given, const Machine& machine) {
  Call call = given;
  if (call.most_tasks == 0) call.most_tasks = kMostTasks;
  const std::uint64_t ranks = static_cast<std::uint64_t>(call.ranks());
  const bool has_parts =
      call.operation == Operation::kReduce && call.algorithm != Algorithm::kBinomial && call.folds;
  const bool in_two = has_parts && 4 * ranks * ranks > call.most_tasks;
  auto figures = in_two ? simulate_in_two(call, machine) : simulate_one(call, machine);
  const bool is_whole = figures.ok() && !in_two && figures->simulated == ranks;
  const bool may_lack_parts = in_two || (call.operation == Operation::kAllreduce &&
                                         call.algorithm != Algorithm::kRecursiveDoubling);
  if (may_lack_parts && !is_whole) {
    figures = no_sooner_than_one_part(std::move(figures), call, machine);
  }
  if (figures.ok()) figures->seconds += machine.call;
  return figures;
}

}  // namespace thinwire::simulate
