#include "shim/mpi/choose/link_rate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>

#include "choose/large_interval.h"
#include "shim/common/tcp_links.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{4};
// A look at many connections takes longer; looks take this part of the time at most.
constexpr int kLooksShare = 200;

// Small messages beside large ones have the connections looked at, but not each.
constexpr std::chrono::milliseconds kBetweenSmall{1};
// An interval that does not end so long tells nothing: its messages do not go over connections.
constexpr std::chrono::seconds kLongest{10};

struct Meter {
  std::mutex mutex;  // guards all but what is atomic
  shim::TcpLinks connections;
  choose::LinkEstimate estimate;
  choose::RateOfRaw of_raw;   // of intervals that had raw messages alone
  bool has_raw_alone = true;  // the interval that is open
  choose::LargeInterval interval;
  Clock::time_point opened, looked_beside, next_look_under_way;
  std::uint64_t under_way = 0;
  std::atomic<Clock::duration::rep> next_look{0};
  std::atomic<double> rate{0}, rate_of_raw{0};
  std::atomic<choose::RateSource> source{choose::RateSource::kUnknown};
};

Meter& meter() {
  static auto* const of_process = new Meter;
  return *of_process;
}

void publish(Meter& meter) {
  meter.rate.store(meter.estimate.rate().bytes_per_second, std::memory_order_relaxed);
  meter.source.store(meter.estimate.rate().source, std::memory_order_relaxed);
  meter.rate_of_raw.store(meter.of_raw.rate(meter.estimate.rate()), std::memory_order_relaxed);
}

double seconds_of(Clock::time_point at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

// Under the lock, as what follows.
void begin_interval(Meter& meter, Clock::time_point now) {
  if (!meter.connections.begin()) return;
  meter.interval.open(seconds_of(now));
  meter.opened = now;
  meter.looked_beside = {};
  meter.has_raw_alone = true;
  large_are_under_way.store(true, std::memory_order_relaxed);
}

void end_interval(Meter& meter, std::span<const choose::Growth> grown, Clock::time_point now) {
  choose::Delivered delivered = meter.interval.close(grown);
  const double passed = seconds_of(now) - seconds_of(meter.opened);
  delivered.busy_seconds = std::min(delivered.busy_seconds, passed);
  meter.estimate.add(delivered);
  if (meter.has_raw_alone) meter.of_raw.add(delivered);
  large_are_under_way.store(false, std::memory_order_relaxed);
  publish(meter);
}

// A large message is about to leave.
void look(Meter& meter, Clock::time_point now) {
  if (meter.interval.is_open()) {
    const auto grown = meter.connections.grown();
    if (meter.interval.is_finished(grown, seconds_of(now)) || meter.interval.is_long(grown) ||
        meter.interval.is_behind(grown) || now - meter.opened > kLongest) {
      end_interval(meter, grown, now);
    }
  }
  if (!meter.interval.is_open()) begin_interval(meter, now);
  const auto took = Clock::now() - now;
  const auto pause = std::max<Clock::duration>(kBetweenLooks, took * kLooksShare);
  meter.next_look.store((now + pause).time_since_epoch().count(), std::memory_order_relaxed);
}

void look_if_due(Meter& meter) {
  const auto now = Clock::now();
  if (now.time_since_epoch().count() < meter.next_look.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(meter.mutex, std::try_to_lock);
  if (lock) look(meter, now);
}

choose::LinkRate first_rate() {
  const double stated = process().settings.collectives.link_bytes_per_second;
  if (stated > 0) return {stated, choose::RateSource::kStated};
  const double fastest = tw_link_of_machine();
  if (fastest <= 0) return {};
  const int ranks = process().job.reachable() ? process().job.ranks_on_this_node() : 1;
  return {choose::share_of(fastest, ranks), choose::RateSource::kMachine};
}

// The rate of a node's memory: what the user states holds for it, too, if ranks of one node
// compress.
choose::LinkRate rate_of_memory() {
  const double stated = process().settings.collectives.link_bytes_per_second;
  if (stated > 0) return {stated, choose::RateSource::kStated};
  return {choose::kMemoryBytesPerSecond, choose::RateSource::kMachine};
}

}  // namespace

void start_link_rate() {
  Meter& here = meter();
  const std::lock_guard lock(here.mutex);
  here.estimate = choose::LinkEstimate(first_rate());
  publish(here);
}

choose::LinkRate link_rate(tw_peer place) {
  if (place == TW_PEER_SELF || place == TW_PEER_SAME_NODE) return rate_of_memory();
  Meter& here = meter();
  look_if_due(here);
  return {here.rate.load(std::memory_order_relaxed), here.source.load(std::memory_order_relaxed)};
}

choose::LinkRate link_rate_now() {
  Meter& here = meter();
  const std::lock_guard lock(here.mutex);
  look(here, Clock::now());
  here.interval.sent_unknown();
  here.has_raw_alone = false;
  return here.estimate.rate();
}

double rate_of_raw(tw_peer place) {
  if (place == TW_PEER_SELF || place == TW_PEER_SAME_NODE) return rate_of_memory().bytes_per_second;
  return meter().rate_of_raw.load(std::memory_order_relaxed);
}

void note_sent(tw_peer place, std::uint64_t bytes, bool is_raw) {
  if (place != TW_PEER_OTHER_NODE) return;
  Meter& here = meter();
  const std::lock_guard lock(here.mutex);
  here.interval.sent(static_cast<double>(bytes));
  here.has_raw_alone = here.has_raw_alone && is_raw;
}

std::uint64_t bytes_under_way(tw_peer place) {
  if (place != TW_PEER_OTHER_NODE) return 0;
  Meter& here = meter();
  const auto now = Clock::now();
  const std::lock_guard lock(here.mutex);
  if (now < here.next_look_under_way) return here.under_way;
  here.under_way = here.connections.most_pending();
  here.next_look_under_way = now + (Clock::now() - now) * kLooksShare;
  return here.under_way;
}

void note_collective() {
  Meter& here = meter();
  look_if_due(here);
  const std::lock_guard lock(here.mutex);
  here.interval.sent_unknown();
  here.has_raw_alone = false;
}

void small_beside_large() {
  Meter& here = meter();
  const std::unique_lock lock(here.mutex, std::try_to_lock);
  if (!lock || !here.interval.is_open()) return;
  const auto now = Clock::now();
  if (now < here.looked_beside + kBetweenSmall) {
    here.interval.small(seconds_of(now));
    return;
  }
  const auto grown = here.connections.grown();
  if (here.interval.is_finished(grown, seconds_of(now))) {
    end_interval(here, grown, now);
  }
  const auto took = Clock::now() - now;
  here.looked_beside = now + std::max<Clock::duration>(took * kLooksShare - kBetweenSmall, {});
}

}  // namespace thinwire::mpi
