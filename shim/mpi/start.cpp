#include "shim/mpi/start.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "base/gpu_side.h"
#include "shim/mpi/choose/came.h"
#include "shim/mpi/choose/link_rate.h"
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/collective/agreement.h"
#include "shim/mpi/collective/communicators.h"
#include "shim/mpi/collective/compress_whole.h"
#include "shim/mpi/collective/ordered.h"
#include "shim/mpi/collective/persist.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/device.h"
#include "shim/mpi/message/early_messages.h"
#include "shim/mpi/message/persistent.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/names.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/world.h"
#include "shim/mpi/observe/capture.h"
#include "shim/mpi/observe/plan_log.h"
#include "shim/mpi/observe/report.h"
#include "shim/mpi/observe/trace.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

namespace {

std::atomic<bool> everybody_is_known{false};

// One rank of a job speaks for all if all would say the same.
bool speaks() { return rank_by_launcher().value_or(0) == 0; }

Capabilities own_capabilities(const Settings& settings) {
  Capabilities capabilities;
  capabilities.format_version = tw_format_version();
  capabilities.inspect_threshold = settings.inspect_threshold;
  capabilities.sends_compressed = settings.may_compress();
  capabilities.sends_same_node = capabilities.sends_compressed && settings.plan.same_node;
  capabilities.reports = !settings.report.empty();
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    // The receive buffer may be in host memory, if a codec of GPUs alone cannot decode.
    if (tw_codec_describe(index, &info) == TW_OK && info.gpu_only == 0) {
      capabilities.codecs.push_back(info.id);
    }
  }
  if (settings.wants_collectives()) {
    capabilities.collectives =
        collective_settings_text(settings.collectives, settings.codec(), settings.plan);
  }
  return capabilities;
}

// Open MPI's own answer, which other MPIs may give under the same name.
bool mpi_is_gpu_aware(const Settings& settings) {
  if (settings.gpu_aware) return *settings.gpu_aware;
  using Query = int (*)();
  const auto query = reinterpret_cast<Query>(find_symbol("MPIX_Query_cuda_support"));
  return query != nullptr && query() == 1;
}

// Whether this library takes every call of the MPI that could meet a frame; says what does not fit.
bool names_fit() {
  constexpr const char* kWayOut = "; `thinwire run` and $(thinwire shim mpi) choose the right one";
  const char* const passes_by = call_that_passes_by();
  const char* const not_there = call_that_is_not_there();
  if (passes_by != nullptr && speaks()) {
    tw_log(TW_LOG_WARNING,
           (std::string("this MPI has ") + passes_by +
            ", which the preloaded library does not take: all messages go raw" + kWayOut)
               .c_str());
  }
  if (not_there != nullptr && speaks()) {
    tw_log(TW_LOG_WARNING, (std::string("the preloaded library is for an MPI that has ") +
                            not_there + ", and this one has not" + kWayOut)
                               .c_str());
  }
  return passes_by == nullptr;
}

}  // namespace

void before_start() {
  Process& self = process();
  // Sessions may end and begin again, with the codecs that what is remembered of calls names.
  static bool settings_are_read = false;
  if (!std::exchange(settings_are_read, true)) {
    self.settings = read_settings(speaks());
    // Without kernels this rank could not decode what is sent into memory of its GPU.
    self.settings.disabled = self.settings.disabled || !names_fit() || !gpu_side_status().ok();
  }
  if (self.settings.disabled) return;
  if (self.settings.pool_bytes) tw_pool_set_idle_bound(*self.settings.pool_bytes);
  self.capabilities = own_capabilities(self.settings);
  self.job.publish(self.capabilities);
}

void learn_of_everybody() {
  const Process& self = process();
  if (everybody_is_known || !self.concurrent || self.job.always_answers()) return;
  static std::mutex learning;
  const std::lock_guard lock(learning);
  if (everybody_is_known) return;
  learn_standings();
  learn_who_reports();
  everybody_is_known = true;
}

void after_start(bool by_session) {
  Process& self = process();
  if (self.settings.disabled) return;
  if (!enter_world(self.world, by_session)) {
    tw_log(TW_LOG_WARNING, "this MPI's sessions do not tell who is in the job: it stays as it is");
    return;
  }
  place_self_in(self.world);
  forget_standings();
  expect_report();
  int provided = MPI_THREAD_SINGLE;
  real().Query_thread(&provided);
  self.concurrent = provided == MPI_THREAD_MULTIPLE;
  use_types_in_threads(self.concurrent);
  if (self.concurrent) make_self();
  self.gpu_aware = mpi_is_gpu_aware(self.settings);
  self.job.learn_locality(self.world.rank);
  everybody_is_known = false;
  if (!self.job.answers_with_threads()) learn_of_everybody();
  const bool peers_can_be_asked = !self.concurrent || self.job.expect_threads();
  self.options.size = sizeof self.options;
  self.options.flags = TW_MESSAGE_DECLINE;
  self.options.job = self.job.name().c_str();
  self.options.job_bytes = self.job.name().size();
  start_link_rate();
  thresholds.send = self.settings.plan.threshold;
  thresholds.receive = self.settings.inspect_threshold;
  collectives_may_be_compressed = self.settings.wants_collectives() && self.job.reachable();
  sums_may_be_ordered = collectives_may_be_compressed && self.settings.orders_reductions();
  if (!sums_may_be_ordered && self.settings.orders_reductions() && speaks()) {
    tw_log(TW_LOG_WARNING,
           "sums stay in the MPI's own order: reductions=ordered or exact needs a launcher that "
           "tells the ranks of one another, and a call in THINWIRE_COLLECTIVES");
  }
  start_trace();
  start_capture(copy_elements);
  const char* const level = tw_setting_value("THINWIRE_LOG");
  plans_are_logged =
      level != nullptr && (std::strcmp(level, "plan") == 0 || std::strcmp(level, "debug") == 0);
  explain_all_raw(peers_can_be_asked);
}

void before_world_ends() {
  Process& self = process();
  if (!shim_is_active()) return;
  release_collectives_of_world();
  report(true);
  if (self.world.by_session) return;
  World next;
  if (!enter_world(next, true)) {
    tw_log(TW_LOG_ERROR, "cannot go on in the sessions that MPI_Finalize leaves open");
    return;
  }
  release_self();
  leave_world(std::exchange(self.world, next));
}

void before_end(bool has_comm_world) {
  Process& self = process();
  if (!shim_is_active()) return;
  drain_orphans();
  check_nothing_left();
  collectives_may_be_compressed = sums_may_be_ordered = false;
  end_persistent_collectives();
  release_collectives();
  end_trace();
  end_capture();
  if (plans_are_logged) log_plans_at_end(came_so_far);
  report(has_comm_world);
  thresholds = {};
  release_type_cache();
  release_peers();
  release_self();
  leave_world(self.world);
  self.job.leave();
}

}  // namespace thinwire::mpi
