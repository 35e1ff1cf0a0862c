#include "group.h"

#include <thread>
#include <utility>
#include <vector>

#include "entry.h"

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
  std::function<ncclResult_t()> make;
  bool blocking;
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

ncclResult_t make_all(const std::vector<Making>& makings) {
  std::vector<std::thread> threads;
  std::vector<ncclResult_t> results(makings.size(), ncclSuccess);
  bool goes_on = false;
  for (std::size_t i = 0; i < makings.size(); ++i) {
    if (!makings[i].blocking) {
      goes_on = true;
      std::thread(makings[i].make).detach();
      continue;
    }
    threads.emplace_back([&, i] { results[i] = makings[i].make(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ncclResult_t result : results) {
    if (result != ncclSuccess) return result;
  }
  return goes_on ? ncclInProgress : ncclSuccess;
}

// Messages on other streams than the first one's would need events, which no test needs.
ncclResult_t enqueue_messages(std::vector<Pending>& calls, std::size_t first) {
  std::vector<Body> bodies;
  const ncclComm_t comm = calls[first].comm;
  const cudaStream_t stream = calls[first].stream;
  for (std::size_t i = first; i < calls.size(); ++i) {
    if (calls[i].comm != comm || calls[i].kind != Kind::kMessage) continue;
    if (calls[i].stream != stream) return ncclInvalidUsage;
    bodies.push_back(std::move(calls[i].before));
    calls[i].comm = nullptr;  // done
  }
  enqueue(comm, stream,
          [bodies = std::move(bodies)](Exchange& messages) {
            for (const Body& body : bodies) body(messages);
          },
          {});
  return ncclSuccess;
}

// As NCCL does it: a group's collectives, then its messages.
ncclResult_t enqueue_all(std::vector<Pending>& calls) {
  for (Pending& call : calls) {
    if (call.kind != Kind::kCollective) continue;
    enqueue(call.comm, call.stream, std::move(call.before), std::move(call.after));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].kind != Kind::kMessage || calls[i].comm == nullptr) continue;
    if (const ncclResult_t result = enqueue_messages(calls, i); result != ncclSuccess)
      return result;
  }
  return ncclSuccess;
}

}  // namespace

bool in_group() { return group().depth > 0; }

ncclResult_t refuse(ncclResult_t error) {
  if (in_group() && group().error == ncclSuccess) group().error = error;
  return error;
}

ncclResult_t submit(Kind kind, ncclComm_t comm, cudaStream_t stream, Body before,
                    std::function<void()> after) {
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return refuse(error);
  std::vector<Pending> one;
  std::vector<Pending>& calls = in_group() ? group().calls : one;
  calls.push_back({kind, comm, stream, std::move(before), std::move(after)});
  return in_group() ? ncclSuccess : enqueue_all(one);
}

ncclResult_t submit_making(std::function<ncclResult_t()> make, bool blocking) {
  if (!in_group()) return make_all({{std::move(make), blocking}});
  group().makings.push_back({std::move(make), blocking});
  return ncclSuccess;
}

FAKE_NCCL(GroupStart) {
  ++group().depth;
  return ncclSuccess;
}

FAKE_NCCL(GroupEnd) {
  Group& open = group();
  if (open.depth == 0) return ncclInvalidUsage;
  if (--open.depth > 0) return ncclSuccess;
  Group done = std::exchange(open, {});
  if (done.error != ncclSuccess) return done.error;
  const ncclResult_t made = make_all(done.makings);
  const ncclResult_t enqueued = enqueue_all(done.calls);
  return enqueued != ncclSuccess ? enqueued : made;
}

}  // namespace fake_nccl
