#include "costs/costs.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/job_rank.h"
#include "base/log.h"
#include "base/text_file.h"
#include "capi/boundary.h"
#include "capi/handles.h"
#include "costs/links.h"
#include "costs/nccl_links.h"

using namespace thinwire;

namespace {

Result<costs::Table> read_table(const std::string& text, const std::string& name) {
  return costs::Table::read(text, name, costs::machine_text(), tw_version());
}

Result<costs::Table> open_table(const std::string& path) {
  const auto text = read_text_file(path);
  return text.ok() ? read_table(*text, path) : Result<costs::Table>(text.status());
}

tw_costs* make_costs(costs::Table table) {
  auto kept = std::make_shared<const costs::Table>(std::move(table));
  return capi::Shells<tw_costs>::make(std::move(kept)).release();
}

tw_status give_table(Result<costs::Table> read, tw_costs** to) {
  if (!read.ok()) return capi::report(read.status());
  *to = make_costs(std::move(*read));
  return TW_OK;
}

// Never destroyed: other threads and exit handlers may still ask.
const tw_costs* read_own_table() {
  const std::string path = tw_costs_path();
  if (path.empty() || access(path.c_str(), F_OK) != 0) return nullptr;
  auto read = open_table(path);
  if (read.ok()) return make_costs(std::move(*read));
  log(speaks_for_job() ? LogLevel::kWarning : LogLevel::kDebug,
      read.status().message() + "; costs are measured when they are needed");
  return nullptr;
}

tw_codec_cost to_c(const plan::CodecCost& cost) {
  return {sizeof(tw_codec_cost), 0, cost.encode_bytes_per_second, cost.decode_bytes_per_second,
          cost.ratio};
}

}  // namespace

double tw_link_of_machine(void) { return costs::interface_of_machine().bytes_per_second; }

double tw_link_of_nccl(uint32_t ranks) {
  constexpr uint32_t kMost = 1U << 20;
  return costs::most_of_node(costs::nccl_links_of_machine(),
                             static_cast<int>(std::min(ranks, kMost)));
}

const char* tw_link_of_machine_name(void) { return costs::interface_of_machine().name.c_str(); }

const char* tw_machine(void) { return costs::machine_text().c_str(); }

const char* tw_costs_path(void) {
  static const auto* const path = new std::string(costs::path_of_machine());
  return path->c_str();
}

tw_status tw_costs_create(const char* text, const char* name, tw_costs** costs) {
  return capi::guarded([&] {
    if (text == nullptr || name == nullptr || costs == nullptr) {
      return capi::misuse("tw_costs_create: null pointer");
    }
    return give_table(read_table(text, name), costs);
  });
}

tw_status tw_costs_open(const char* path, tw_costs** costs) {
  return capi::guarded([&] {
    if (path == nullptr || costs == nullptr) return capi::misuse("tw_costs_open: null pointer");
    return give_table(open_table(path), costs);
  });
}

void tw_costs_destroy(tw_costs* costs) {
  capi::close_handle(costs, "tw_costs_destroy: the table is destroyed already");
}

const tw_costs* tw_costs_of_machine(void) {
  const tw_costs* found = nullptr;
  capi::guarded([&] {
    static const tw_costs* const own = read_own_table();
    found = own;
    return TW_OK;
  });
  return found;
}

uint32_t tw_costs_count(const tw_costs* costs) {
  return !capi::is_open(costs) ? 0 : static_cast<uint32_t>(costs->table->rows().size());
}

tw_status tw_costs_describe(const tw_costs* costs, uint32_t index, tw_costs_row* to) {
  if (!capi::has_size(to) || index >= tw_costs_count(costs)) {
    return capi::misuse("tw_costs_describe: row is null, its size is not set, or no such index");
  }
  const costs::Row& row = costs->table->rows()[index];
  tw_costs_row made{};
  made.dtype = static_cast<uint32_t>(row.dtype);
  made.bytes = row.bytes;
  made.on_gpu = row.place == costs::Place::kGpu ? 1 : 0;
  made.codec = row.codec.c_str();
  made.cost = to_c(row.cost);
  capi::give(made, to);
  return TW_OK;
}

int32_t tw_costs_find(const tw_costs* costs, const tw_codec* codec, uint32_t dtype, uint64_t bytes,
                      uint32_t on_gpu, tw_codec_cost* cost) {
  if (!capi::is_open(costs) || !capi::is_open(codec) || dtype >= kDtypeCount ||
      !capi::has_size(cost)) {
    return 0;
  }
  // "auto" costs what the codec costs that it takes for such a type; a shape, what no table has.
  const auto type = static_cast<Dtype>(dtype);
  const std::uint64_t count = std::max<std::uint64_t>(1, bytes / dtype_size(type));
  const message::Coder coder = codec->coder_of({type, Shape::line(count)});
  const codec::Spec spec{
      .kind = codec::Spec::Kind::kCodec, .codec = coder.codec, .parameter = coder.parameter};
  if (codec->spec.shape.rank > 0) return 0;
  const auto found = costs->table->find(spec.text(), type, bytes,
                                        on_gpu != 0 ? costs::Place::kGpu : costs::Place::kHost);
  if (!found) return 0;
  capi::give(to_c(*found), cost);
  return 1;
}
