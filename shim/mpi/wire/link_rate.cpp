#include "wire/link_rate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "process/process.h"
#include "shim/common/tcp_links.h"

namespace thinwire::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{4};
// A look at many connections takes longer; looks take this part of the time at most.
constexpr int kLooksShare = 200;

struct Meter {
  std::mutex mutex;  // guards all but what is atomic
  shim::TcpLinks connections;
  plan::LinkEstimate estimate;
  Clock::time_point looked;
  std::atomic<Clock::duration::rep> next_look{0};
  std::atomic<double> rate{0};
  std::atomic<plan::RateSource> source{plan::RateSource::kUnknown};
};

Meter& meter() {
  static auto* const of_process = new Meter;
  return *of_process;
}

void publish(Meter& meter) {
  meter.rate.store(meter.estimate.rate().bytes_per_second, std::memory_order_relaxed);
  meter.source.store(meter.estimate.rate().source, std::memory_order_relaxed);
}

// Under the lock.
void look(Meter& meter, Clock::time_point now) {
  const double passed = std::chrono::duration<double>(now - meter.looked).count();
  meter.estimate.add(meter.connections.look(passed));
  meter.looked = now;
  const auto took = Clock::now() - now;
  const auto pause = std::max<Clock::duration>(kBetweenLooks, took * kLooksShare);
  meter.next_look.store((now + pause).time_since_epoch().count(), std::memory_order_relaxed);
  publish(meter);
}

void look_if_due(Meter& meter) {
  const auto now = Clock::now();
  if (now.time_since_epoch().count() < meter.next_look.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(meter.mutex, std::try_to_lock);
  if (lock) look(meter, now);
}

plan::LinkRate first_rate() {
  const double stated = process().settings.collectives.link_bytes_per_second;
  if (stated > 0) return {stated, plan::RateSource::kStated};
  const double fastest = tw_link_of_machine();
  if (fastest <= 0) return {};
  const int ranks = process().job.reachable() ? process().job.ranks_on_this_node() : 1;
  return {plan::share_of(fastest, ranks), plan::RateSource::kMachine};
}

// What the user states is believed of memory too, where he has ranks of one node compress.
plan::LinkRate rate_of_memory() {
  const double stated = process().settings.collectives.link_bytes_per_second;
  if (stated > 0) return {stated, plan::RateSource::kStated};
  return {plan::kMemoryBytesPerSecond, plan::RateSource::kMachine};
}

}  // namespace

void start_link_rate() {
  Meter& here = meter();
  const std::lock_guard lock(here.mutex);
  here.estimate = plan::LinkEstimate(first_rate());
  here.looked = Clock::now();
  publish(here);
}

plan::LinkRate link_rate(tw_peer place) {
  if (place == TW_PEER_SELF || place == TW_PEER_SAME_NODE) return rate_of_memory();
  Meter& here = meter();
  look_if_due(here);
  return {here.rate.load(std::memory_order_relaxed), here.source.load(std::memory_order_relaxed)};
}

plan::LinkRate link_rate_now() {
  Meter& here = meter();
  const std::lock_guard lock(here.mutex);
  look(here, Clock::now());
  return here.estimate.rate();
}

}  // namespace thinwire::mpi
