#include "program.h"

#include <cmath>
#include <cstring>

#include "marks.h"

namespace legality {
namespace {

std::string name_of(const Drawn& drawn, int rank, int size) {
  return std::string(tw_operation_text(drawn.operation)) + " of " + std::to_string(size) + " at " +
         std::to_string(rank) + " (" + drawn.spec.text + ", dtype " + std::to_string(drawn.dtype) +
         (drawn.reduces() ? ", reduction " + std::to_string(drawn.reduction) : "") + ", " +
         tw_algorithm_text(drawn.algorithm) + " " + tw_coding_text(drawn.coding) +
         (drawn.lists ? ", lists" : "") + (drawn.in_place ? ", in place" : "") + ")";
}

// A call that is refused before anybody else is asked.
void make_mistake(tw_comm* comm, const Drawn& drawn, tw_collective call) {
  std::uint64_t lone = 1;
  switch (drawn.mistake) {
    case Mistake::kNone:
      return;
    case Mistake::kRoot:
      call.root = tw_comm_size(comm);
      break;
    case Mistake::kDtype:
      call.dtype = 9;
      break;
    case Mistake::kOperation:
      call.operation = 99;
      break;
    case Mistake::kReduction:
      call.reduction = 9;
      break;
    case Mistake::kLoneCounts:
      call.send_counts = &lone, call.send_displacements = nullptr;
      break;
    case Mistake::kSize:
      call.size = 0;
      break;
  }
  mark(Feature::mistake_);
  const tw_status status = tw_comm_run(comm, &call, nullptr);
  if (status != TW_INVALID_ARGUMENT || std::strlen(tw_last_error()) == 0)
    complain("mistake " + std::to_string(static_cast<int>(drawn.mistake)) + " came to status " +
             std::to_string(status));
}

struct Checked {
  const Drawn& drawn;
  const tw_collective_report& report;
  int size;

  bool compressed() const { return report.reason == TW_COMPRESS; }
  bool exact() const { return drawn.spec.lossless || !compressed(); }
  // How far off what is finite may be; less than 0: nothing is promised.
  double promised() const {
    if (exact()) return 0;
    if (drawn.reduces()) return report.bound > 0 ? report.bound : -1;
    const bool once = report.coding != TW_CODING_PER_HOP;
    if (once && drawn.spec.absolute > 0) return drawn.spec.absolute;
    return report.bound > 0 ? report.bound : -1;
  }
};

double combine(std::uint32_t reduction, double left, double right) {
  if (reduction == TW_SUM) return left + right;
  if (reduction == TW_PRODUCT) return left * right;
  return reduction == TW_MINIMUM ? std::min(left, right) : std::max(left, right);
}

bool is_near(double got, double wanted, double allowed) {
  if (std::isnan(wanted)) return std::isnan(got);
  if (std::isinf(wanted)) return got == wanted;
  return std::fabs(got - wanted) <= allowed;
}

// Elements that are not as they must be.
std::uint64_t check_moved(const Checked& with, const Array& array, const Part& part) {
  const std::uint32_t dtype = with.drawn.dtype;
  const double promised = with.promised();
  std::uint64_t wrong = 0;
  if (promised < 0) return 0;
  for (std::uint64_t at = 0; at < part.count; ++at) {
    unsigned char wanted[8] = {};
    write_value(part.content, dtype, part.first + at, wanted);
    const void* got = array.at(part.place + at);
    if (std::memcmp(got, wanted, size_of(dtype)) == 0) continue;
    wrong +=
        promised == 0 || !is_near(read_number(dtype, got), read_number(dtype, wanted), promised);
  }
  return wrong;
}

std::uint64_t check_reduced(const Checked& with, const Array& array, const Part& part) {
  const Drawn& drawn = with.drawn;
  const double promised = with.promised();
  if (promised < 0) return 0;
  const bool waves = drawn.content.kind == Kind::kSmooth;
  const double unit = drawn.dtype == TW_F32 ? 0x1p-23 : 0x1p-52;
  std::uint64_t wrong = 0;
  for (std::uint64_t at = 0; at < part.count; ++at) {
    double exact = 0, sum = 0;
    for (int rank = 0; rank < with.size; ++rank) {
      unsigned char bytes[8] = {};
      write_value(drawn.content_of(rank, 0), drawn.dtype, part.first + at, bytes);
      const double value = read_number(drawn.dtype, bytes);
      exact = rank == 0 ? value : combine(drawn.reduction, exact, value);
      sum += std::fabs(value);
    }
    // Sums of waves are rounded, in the array's type and here.
    const double slack = waves ? 2 * with.size * unit * sum : 0;
    const double got = read_number(drawn.dtype, array.at(part.place + at));
    wrong += !is_near(got, exact, promised + slack);
  }
  return wrong;
}

void check(const Checked& with, const Arrays& arrays, const std::string& name) {
  if (!arrays.is_untouched()) complain(name + " wrote where it must not");
  std::uint64_t wrong = 0;
  for (const Part& part : arrays.results())
    wrong += with.drawn.reduces() ? check_reduced(with, arrays.receive(), part)
                                  : check_moved(with, arrays.receive(), part);
  if (wrong > 0) complain(name + ": " + std::to_string(wrong) + " elements are wrong");
  const double asked = with.drawn.spec.result;
  if (with.drawn.reduces() && with.compressed() && asked > 0 && with.report.bound > asked)
    complain(name + " states a larger bound than was asked for");
  const bool whole = with.drawn.content.kind == Kind::kSmall;
  if (with.drawn.verify && with.exact() && whole && with.report.max_error != 0)
    complain(name + " verified to a difference");
}

void mark_report(const Checked& with) {
  const Feature algorithms[] = {Feature::ring_,  Feature::recursive_doubling_, Feature::direct_,
                                Feature::chain_, Feature::binomial_,           Feature::pairwise_,
                                Feature::bruck_, Feature::rank_order_,         Feature::exact_};
  if (with.report.algorithm > 0) mark(algorithms[with.report.algorithm - 1]);
  if (with.report.coding == TW_CODING_PER_HOP) mark(Feature::per_hop_);
  if (with.report.coding == TW_CODING_TWO_LEVEL) mark(Feature::two_level_);
  const bool coded = with.compressed() && with.report.raw_packets < with.report.packets;
  if (coded) mark(Feature::compressed_);
  if (coded && !with.drawn.spec.lossless) mark(Feature::lossy_compressed_);
  if (coded && with.promised() > 0) mark(Feature::bound_held_);
}

}  // namespace

Outcome run_operation(tw_comm* comm, const Drawn& drawn, int rank, int size) {
  const std::string name = name_of(drawn, rank, size);
  Arrays arrays(drawn, rank, size);
  tw_collective call = arrays.call();
  tw_collective_report report{};
  report.size = sizeof report;
  if (tw_comm_rank(comm) != rank || tw_comm_size(comm) != size)
    complain(name + " is on another communicator");
  make_mistake(comm, drawn, call);
  const bool unable = rank == drawn.unable;
  if (unable) call.flags |= TW_UNABLE, call.send = call.receive = nullptr;
  if (drawn.unable >= 0) mark(Feature::unable_);
  mark_operation(drawn);
  Outcome outcome;
  outcome.ran = true;
  if (drawn.planned) {
    outcome.status = tw_comm_plan(comm, &call, &report);
    call.flags |= TW_PLANNED;
  }
  outcome.status = tw_comm_run(comm, &call, &report);
  outcome.reason = report.reason, outcome.coding = report.coding;
  const bool refused = outcome.status == TW_UNSUPPORTED && drawn.algorithm != 0;
  if (refused) mark(Feature::unsupported_);
  const bool failed = outcome.status != TW_OK;
  if (unable && !refused && outcome.status != TW_INTERNAL)
    complain(name + ": an unable rank came to status " + std::to_string(outcome.status));
  if (failed && !refused && drawn.unable < 0)
    complain(name + ": " + std::to_string(outcome.status) + ", " + tw_last_error());
  if (failed) return outcome;
  const Checked with{drawn, report, size};
  check(with, arrays, name);
  mark_report(with);
  outcome.hash = arrays.hash();
  return outcome;
}

void compare_ranks(const Drawn& drawn, const std::vector<Outcome>& outcomes) {
  const int size = static_cast<int>(outcomes.size());
  const bool alike = drawn.operation == TW_BCAST || drawn.operation == TW_ALLGATHER ||
                     drawn.operation == TW_ALLREDUCE;
  const Outcome* first = nullptr;
  for (int rank = 0; rank < size; ++rank) {
    const Outcome& own = outcomes[static_cast<std::size_t>(rank)];
    if (!own.ran) complain(name_of(drawn, rank, size) + " did not run");
    if (drawn.unable < 0 && own.status != outcomes[0].status)
      complain(name_of(drawn, rank, size) + ": another status than at rank 0");
    const bool differs = own.coding == TW_CODING_PER_HOP && !drawn.spec.lossless;
    const bool keeps = drawn.operation == TW_BCAST && rank == drawn.root && !drawn.root_decodes;
    if (own.status != TW_OK || !alike || differs || keeps) continue;
    if (first == nullptr) first = &own;
    if (own.hash != first->hash || own.reason != first->reason)
      complain(name_of(drawn, rank, size) + " differs between ranks");
  }
}

}  // namespace legality
