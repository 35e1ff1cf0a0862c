#include "comm/communicator.h"

#include <algorithm>
#include <chrono>

#include "codec/registry.h"
#include "collective/adapt.h"
#include "comm/agreement.h"
#include "comm/exchange.h"
#include "device/copy.h"
#include "message/automatic.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

// Codecs and their versions, as in "raw.0 zfp.0".
std::string codecs_of_build() {
  std::string text;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (!text.empty()) text += ' ';
    text.append(codec->name).append(".").append(std::to_string(codec->version));
  }
  return text;
}

std::string nodes_text(const std::vector<std::int32_t>& nodes) {
  std::string text;
  for (const std::int32_t node : nodes) {
    if (!text.empty()) text += ',';
    text += std::to_string(node);
  }
  return text.empty() ? "one a rank" : text;
}

std::string references_text(std::uint64_t bytes) {
  if (bytes == 0) return "none";
  return std::to_string(bytes) + " bytes, format " + std::to_string(frame::kDeltaVersion);
}

std::vector<Term> terms_of(const Options& options) {
  return {{"frame format", std::to_string(frame::kFormatVersion)},
          {"codecs", codecs_of_build()},
          {"codec", options.spec.text()},
          {"threshold", std::to_string(options.threshold)},
          {"link", std::to_string(options.link_bytes_per_second)},
          {"piece", std::to_string(options.piece_bytes)},
          {"references", references_text(options.reference_bytes)},
          {"job", options.mark_text},
          {"same node", options.same_node ? "compressed" : "raw"},
          {"nodes", nodes_text(options.nodes)}};
}

std::uint32_t parts_of(const collective::Schedule& schedule, Operation operation) {
  const bool cut = operation == Operation::kBcast || operation == Operation::kReduce ||
                   operation == Operation::kAllreduce;
  return cut ? schedule.blocks : 1;
}

}  // namespace

bool shares_blocks(const Call& call, int rank) {
  if (!call.in_place) return false;
  switch (call.operation) {
    case Operation::kAllgather:
    case Operation::kAllreduce:
      return true;
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kReduce:
      return rank == call.root;
    default:
      return false;
  }
}

Communicator::Communicator(std::unique_ptr<transport::Transport> transport, Options options)
    : transport_(std::move(transport)), options_(std::move(options)) {
  topology_.rank = transport_->rank();
  topology_.size = transport_->size();
  topology_.node_of = options_.nodes;
  nodes_ = count_nodes();
}

Result<std::unique_ptr<Communicator>> Communicator::create(
    std::unique_ptr<transport::Transport> transport, Options options) {
  if (Status status = agree(*transport, terms_of(options)); !status.ok()) return status;
  std::unique_ptr<Communicator> made(new Communicator(std::move(transport), std::move(options)));
  if (Status status = made->find_sharers(); !status.ok()) return status;
  if (Status status = made->open_history(); !status.ok()) return status;
  return made;
}

// The transport failed while ranks agreed on something.
Status Communicator::broken(Status status) {
  broken_ = true;
  why_broken_ = status.message();
  transport_->give_up();
  return status;
}

Status Communicator::gone() const {
  return {StatusCode::kInternal,
          "the communicator's transport failed in an earlier call: " + why_broken_};
}

// The lists that only the root has go to all ranks.
Status Communicator::share_counts(const Call& call) {
  counts_.resize(static_cast<std::size_t>(size()));
  const std::uint64_t* own =
      call.operation == Operation::kGather ? call.receive_counts : call.send_counts;
  if (rank() == call.root) {
    for (int peer = 0; peer < size(); ++peer) {
      counts_[static_cast<std::size_t>(peer)] = count_of(own, call.count, peer);
    }
  }
  const Status status =
      broadcast(*transport_, call.root, std::as_writable_bytes(std::span(counts_)));
  return status.ok() ? status : broken(status);
}

Status Communicator::find_device(const Call& call) {
  device_ = -1;
  if (call.unable) return {StatusCode::kInternal, "this rank could not take part"};
  const auto device = device::device_of(call.send, call.receive);
  if (device.ok()) device_ = *device;
  return device.status();
}

Status Communicator::prepare(const Call& call, Report& report) {
  const Choice& choice = report.choice;
  settings_ = {.spec = call.spec,
               .dtype = call.dtype,
               .reduction = call.reduction,
               .terms = message::terms_of(choice.least_ratio),
               .mark = options_.mark,
               .on_device = device_ >= 0};
  settings_.terms.least_ratio = std::max(settings_.terms.least_ratio, message::kLeastRatio);
  if (choice.reason != plan::Reason::kCompress) settings_.spec = {};
  const bool is_lossless = call.spec.codec == nullptr || call.spec.codec->lossless;
  const bool may_skip = is_lossless || !plan::reduces(call.operation);
  backoff_ = may_skip ? &backoff_of(call) : nullptr;
  topology_.root = call.root;
  topology_.root_decodes = call.root_decodes && !is_lossless;
  const collective::Row* row =
      collective::find_algorithm(call.operation, choice.algorithm, choice.coding);
  if (row == nullptr) return {StatusCode::kUnsupported, "there is no such schedule"};
  schedule_ = row->make(topology_);
  if (Status status = set_bound(call, *row, report); !status.ok()) return status;
  if (device_ >= 0) collective::stage_values(schedule_);
  return {};
}

Status Communicator::bind(const Call& call, const Choice& choice) {
  const collective::Cutter cutter(call.spec, call.dtype, choice.piece_bytes);
  if (call.varied) {
    if (Status status = share_counts(call); !status.ok()) return status;
  }
  binding_.bind(call, cutter, rank(), size(), parts_of(schedule_, call.operation),
                call.varied ? counts_.data() : nullptr);
  program_.build(schedule_, binding_.blocks(), shares_blocks(call, rank()), choice.window);
  return {};
}

Status Communicator::run_chosen(const Call& call, Report& report) {
  const auto begin = std::chrono::steady_clock::now();
  keeps_ = false;
  Call own = call;
  // From here on this rank takes part whatever happens to it: others wait for what it sends.
  Status hindrance = find_device(call);
  if (const Status kept = keep_input(call, own); hindrance.ok()) hindrance = kept;
  own.unable = !hindrance.ok();
  if (Status status = prepare(own, report); !status.ok()) return status;
  if (Status status = bind(own, report.choice); !status.ok()) return status;
  if (Status status = agree_on_reference(own, report.choice); !status.ok()) return status;
  if (const Status acquired = acquire(report); hindrance.ok()) hindrance = acquired;
  if (!hindrance.ok()) {
    if (Status status = acquire_for_nothing(); !status.ok()) return status;
  }
  collective::Engine engine(settings_, spare_);
  const collective::Means means{.workspace = workspace_,
                                .engine = engine,
                                .transport = *transport_,
                                .crew = crew(),
                                .why_off = report.choice.reason,
                                .crowded = processors() < 1 + threads_wanted(),
                                .backoff = backoff_};
  Status status = executor_.run(schedule_, binding_.blocks(), program_, binding_.arrays(), means,
                                hindrance, report.tally);
  keep_result(own, status.ok());
  if (history_ != nullptr) {
    report.reference_bytes = history_->bytes();
    report.reference_results = history_->entries();
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return status;
}

Status Communicator::run(const Call& call, Report& report, const Choice* planned) {
  if (broken_) return gone();
  if (Status status = check(call, size()); !status.ok()) return status;
  report = {};
  if (planned != nullptr) {
    report.choice = *planned;
  } else {
    if (!call.as_agreed) {
      if (Status status = learn_cost(call); !status.ok()) return status;
    }
    const auto choice = choose(call);
    if (!choice.ok()) return choice.status();
    report.choice = *choice;
  }
  const Status status = call.verify ? run_verified(call, report) : run_chosen(call, report);
  if (!broken_ && executor_.transport_failed()) {
    broken_ = true;
    why_broken_ = status.message();
  }
  // Memory that a failed transport may still write to is lent to nobody else.
  if (!broken_) end_loans();
  return status;
}

}  // namespace thinwire::comm
