#include "group.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "stream.h"

namespace fake_nccl {
namespace {

struct Pending {
  Kind kind;
  ncclComm_t comm;
  cudaStream_t stream;
  Body before;
  std::function<void()> after;
};

struct Making {
  ncclComm_t of;
  std::function<ncclResult_t()> make;
};

struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<Pending> calls;
  std::vector<Making> makings;
};

Group& group() {
  static thread_local Group of_thread;
  return of_thread;
}

// Those of one communicator, as its splits, one after the other.
ncclResult_t make_all(const std::vector<Making>& makings) {
  std::map<ncclComm_t, std::vector<std::size_t>> of_comms;
  for (std::size_t i = 0; i < makings.size(); ++i) of_comms[makings[i].of].push_back(i);
  std::vector<std::thread> threads;
  std::vector<ncclResult_t> results(makings.size(), ncclSuccess);
  for (const auto& [comm, all] : of_comms) {
    threads.emplace_back([&results, &makings, &of_one = all] {
      for (const std::size_t i : of_one) results[i] = makings[i].make();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ncclResult_t result : results) {
    if (result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

void enqueue_bodies(ncclComm_t comm, cudaStream_t stream, std::vector<Body> bodies) {
  enqueue(comm, stream,
          [bodies = std::move(bodies)](Exchange& messages) {
            for (const Body& body : bodies) body(messages);
          },
          {});
}

// On the stream of the first of them.
void enqueue_messages(std::vector<Pending>& calls, ncclComm_t comm, cudaStream_t stream) {
  std::vector<Body> bodies;
  for (Pending& call : calls) {
    if (call.comm != comm || call.kind != Kind::kMessage) continue;
    bodies.push_back(std::move(call.before));
    call.comm = nullptr;  // done
  }
  if (!bodies.empty()) enqueue_bodies(comm, stream, std::move(bodies));
}

// CUDA loads a kernel as it is launched first, and may wait for all that is under way on the GPU.
void wait_as_loading_does(const std::vector<Pending>& calls) {
  static const bool waits = std::getenv("FAKE_NCCL_LAUNCHES_WAIT") != nullptr;
  if (!waits) return;
  for (const Pending& call : calls) stream_of(call.stream).wait();
}

// As on a busy processor, which takes so long to enqueue a group.
void take_time() {
  static const char* const named = std::getenv("FAKE_NCCL_ENQUEUE_US");
  static const auto time = std::chrono::microseconds(named == nullptr ? 0 : std::atoi(named));
  if (time.count() > 0) std::this_thread::sleep_for(time);
}

void enqueue_collectives(std::vector<Pending>& calls, ncclComm_t comm, cudaStream_t stream) {
  for (Pending& call : calls) {
    if (call.comm != comm || call.kind != Kind::kCollective) continue;
    enqueue(comm, stream, std::move(call.before), std::move(call.after));
    call.comm = nullptr;  // done
  }
}

std::vector<cudaStream_t> streams_of(const std::vector<Pending>& calls, ncclComm_t comm) {
  std::vector<cudaStream_t> streams;
  for (const Pending& call : calls) {
    const bool is_new = std::find(streams.begin(), streams.end(), call.stream) == streams.end();
    if (call.comm == comm && is_new) streams.push_back(call.stream);
  }
  return streams;
}

// As NCCL does it: of one communicator after the other a group's collectives, then its messages,
// all on one of its streams, which waits for the others before, and they for it afterwards.
void enqueue_all(std::vector<Pending>& calls) {
  wait_as_loading_does(calls);
  take_time();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ncclComm_t comm = calls[i].comm;
    if (comm == nullptr) continue;
    const std::vector<cudaStream_t> streams = streams_of(calls, comm);
    join(streams);
    enqueue_collectives(calls, comm, streams.front());
    enqueue_messages(calls, comm, streams.front());
    join(streams);
  }
}

// As NCCL finds it out, of each communicator: before anything of the group is enqueued.
ncclResult_t check_captures(const std::vector<Pending>& calls) {
  for (const Pending& call : calls) {
    if (capture_error(call.stream) != 0) return ncclUnhandledCudaError;
    const auto first = std::find_if(calls.begin(), calls.end(),
                                    [&](const Pending& each) { return each.comm == call.comm; });
    if (capture_id(call.stream) != capture_id(first->stream)) return ncclInvalidUsage;
  }
  return ncclSuccess;
}

ncclResult_t carry_out(std::vector<Making>& makings, std::vector<Pending>& calls) {
  const ncclResult_t made = make_all(makings);
  if (const ncclResult_t error = check_captures(calls); error != ncclSuccess) return error;
  enqueue_all(calls);
  return made;
}

// NCCL takes communicators that block and such that do not in no group.
ncclResult_t launch(std::vector<Making> makings, std::vector<Pending> calls) {
  std::set<ncclComm_t> comms;
  for (const Making& each : makings) comms.insert(each.of);
  for (const Pending& each : calls) comms.insert(each.comm);
  std::size_t blocking = 0;
  for (const ncclComm_t each : comms) blocking += each->blocking ? 1 : 0;
  if (blocking != 0 && blocking != comms.size()) return ncclInvalidArgument;
  if (blocking != 0 || comms.empty()) return carry_out(makings, calls);
  struct Later {
    std::vector<Making> makings;
    std::vector<Pending> calls;
  };
  const auto later = std::make_shared<Later>(Later{std::move(makings), std::move(calls)});
  return do_later({comms.begin(), comms.end()},
                  [later] { return carry_out(later->makings, later->calls); });
}

}  // namespace

bool in_group() { return group().depth > 0; }

ncclResult_t refuse(ncclResult_t error) {
  if (in_group() && group().error == ncclSuccess) group().error = error;
  return error;
}

ncclResult_t submit(Kind kind, ncclComm_t comm, cudaStream_t stream, Body before,
                    std::function<void()> after) {
  if (const ncclResult_t error = usable_now(comm); error != ncclSuccess) return refuse(error);
  std::vector<Pending> one;
  std::vector<Pending>& calls = in_group() ? group().calls : one;
  calls.push_back({kind, comm, stream, std::move(before), std::move(after)});
  return in_group() ? ncclSuccess : launch({}, std::move(one));
}

ncclResult_t submit_making(ncclComm_t of, std::function<ncclResult_t()> make) {
  if (!in_group()) return launch({{of, std::move(make)}}, {});
  group().makings.push_back({of, std::move(make)});
  return ncclSuccess;
}

FAKE_NCCL(GroupStart) {
  ++group().depth;
  return ncclSuccess;
}

// Says how many calls there were, in the place of a time.
FAKE_NCCL(GroupSimulateEnd, ncclSimInfo_t* info) {
  Group& open = group();
  if (open.depth == 0) return ncclInvalidUsage;
  if (--open.depth > 0) return ncclSuccess;
  Group done = std::exchange(open, {});
  if (done.error != ncclSuccess) return done.error;
  if (info != nullptr) info->estimatedTime = static_cast<float>(done.calls.size());
  return launch(std::move(done.makings), {});
}

FAKE_NCCL(GroupEnd) {
  Group& open = group();
  if (open.depth == 0) return ncclInvalidUsage;
  if (--open.depth > 0) return ncclSuccess;
  Group done = std::exchange(open, {});
  if (done.error != ncclSuccess) return done.error;
  return launch(std::move(done.makings), std::move(done.calls));
}

}  // namespace fake_nccl
