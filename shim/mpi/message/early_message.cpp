#include "shim/mpi/message/early_message.h"

#include <sched.h>

#include <atomic>
#include <deque>

#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/decode.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/immortal.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/under_way.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// No message is so long.
constexpr std::uint64_t kMark = std::uint64_t{1} << 61;

// Statuses live as long as the program likes, so the last marks alone are known.
constexpr std::size_t kMostMarks = 1 << 16;

struct Marks {
  std::mutex mutex;
  std::deque<std::shared_ptr<EarlyMessage>> early;
  std::uint64_t first = 1;  // the number of the front
};
Marks& marks() { return immortal<Marks>(); }
std::atomic<bool> g_any_marks{false};

std::uint64_t new_mark(std::shared_ptr<EarlyMessage> early) {
  Marks& all = marks();
  const std::lock_guard lock(all.mutex);
  all.early.push_back(std::move(early));
  if (all.early.size() > kMostMarks) {
    all.early.pop_front();
    ++all.first;
  }
  g_any_marks.store(true, std::memory_order_release);
  return all.first + all.early.size() - 1;
}

std::shared_ptr<EarlyMessage> find_mark(std::uint64_t mark) {
  Marks& all = marks();
  const std::lock_guard lock(all.mutex);
  if (mark < all.first || mark - all.first >= all.early.size()) return nullptr;
  return all.early[mark - all.first];
}

void set_size(MPI_Status& status, std::uint64_t bytes) {
  real().Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(bytes));
}

}  // namespace

EarlyMessage::EarlyMessage(MPI_Comm comm, MPI_Message handle, const MPI_Status& status,
                           bool may_be_frame)
    : comm_(comm),
      status_(status),
      wire_bytes_(wire_bytes_of(status)),
      may_be_frame_(may_be_frame),
      handle_(handle),
      request_(MPI_REQUEST_NULL) {
  if (!may_be_frame_) raw_bytes_ = wire_bytes_;
}

// The MPI may be writing into the scratch of a message that nobody will receive.
EarlyMessage::~EarlyMessage() {
  if (state_ != State::kInScratch) return;
  keep_orphan(request_,
              std::make_unique<Continuation>(Continuation::Kind::kSend, std::move(wire_)));
}

bool EarlyMessage::matches(int source, int tag) const {
  return (source == MPI_ANY_SOURCE || source == status_.MPI_SOURCE) &&
         (tag == MPI_ANY_TAG || tag == status_.MPI_TAG);
}

void EarlyMessage::tell(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Status own = status_;
  {
    const std::lock_guard lock(mutex_);
    if (raw_bytes_) {
      set_size(own, *raw_bytes_);
    } else {
      if (mark_ == 0) mark_ = new_mark(shared_from_this());
      set_size(own, kMark + mark_);
    }
  }
  copy_status(own, status);
}

EarlyMessage::Taken EarlyMessage::take() {
  std::unique_lock lock(mutex_);
  while (state_ == State::kBusy) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  Taken taken{state_ == State::kInScratch, handle_, request_, std::move(wire_)};
  state_ = State::kTaken;
  return taken;
}

void EarlyMessage::wait_at(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  request_ = request;
  state_ = State::kPending;
}

void EarlyMessage::received(std::uint64_t raw_bytes) {
  const std::lock_guard lock(mutex_);
  if (!raw_bytes_) raw_bytes_ = raw_bytes;
}

// While a call of the MPI's is about it. Whoever else wants it waits.
class EarlyMessage::Busy final : UnderWay {
 public:
  // Under the lock, which it lets go.
  Busy(EarlyMessage& of, std::unique_lock<std::mutex>& lock) : of_(of), before_(of.state_) {
    of_.state_ = State::kBusy;
    lock.unlock();
    begin();
  }
  // False: an error handler ran, and it is what it was.
  bool end_under(std::unique_lock<std::mutex>& lock) {
    end();
    lock.lock();
    return !is_over_;
  }

 private:
  void before_handler(int) override {
    const std::lock_guard lock(of_.mutex_);
    of_.state_ = before_;
    is_over_ = true;
  }
  EarlyMessage& of_;
  const State before_;
  bool is_over_ = false;
};

// Starts to receive it into scratch.
bool EarlyMessage::begin(std::unique_lock<std::mutex>& lock) {
  Busy busy(*this, lock);
  Lease wire = process().pool.acquire(wire_bytes_);
  const ByteCount as(wire_bytes_);
  MPI_Request request = MPI_REQUEST_NULL;
  const bool begun =
      wire && real().Imrecv(wire.data(), as.count(), as.type(), &handle_, &request) == MPI_SUCCESS;
  if (begun) ++process().counters.received_ahead;
  if (!busy.end_under(lock)) return false;
  state_ = begun ? State::kInScratch : State::kMatched;
  wire_ = std::move(wire);
  request_ = request;
  return begun;
}

void EarlyMessage::look_at_scratch(std::unique_lock<std::mutex>& lock) {
  const MPI_Request request = request_;
  Busy busy(*this, lock);
  int done = 0;
  MPI_Status status;
  const int error = real().Request_get_status(request, &done, &status);
  std::uint64_t raw_bytes = wire_bytes_;
  const bool here = done || error != MPI_SUCCESS;
  if (here && error == MPI_SUCCESS &&
      examine(wire_.data(), wire_bytes_, &raw_bytes) == Kind::kRaw) {
    ++process().counters.raw_received_ahead;
  }
  if (!busy.end_under(lock)) return;
  state_ = State::kInScratch;
  if (here) raw_bytes_ = raw_bytes;
}

std::optional<std::uint64_t> EarlyMessage::size() {
  std::unique_lock lock(mutex_);
  while (!raw_bytes_) {
    const MPI_Request request = request_;
    switch (state_) {
      case State::kMatched:
        if (!begin(lock)) return std::nullopt;
        continue;
      case State::kInScratch:
        look_at_scratch(lock);
        continue;
      case State::kPending:
        lock.unlock();
        deliver_if_complete(request, *this);
        progress_orphans();
        break;
      default:
        lock.unlock();
    }
    sched_yield();
    lock.lock();
  }
  return raw_bytes_;
}

std::optional<std::uint64_t> size_by_mark(const MPI_Status& status) {
  if (!g_any_marks.load(std::memory_order_acquire)) return std::nullopt;
  const std::uint64_t told = wire_bytes_of(status);
  if (told <= kMark || told - kMark >= kMark) return std::nullopt;
  const auto early = find_mark(told - kMark);
  return early ? early->size().value_or(kForgotten) : kForgotten;
}

}  // namespace thinwire::mpi
