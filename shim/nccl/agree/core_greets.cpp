// Connections that others make to a helper, until it is known who they are.
#include <errno.h>
#include <sys/epoll.h>

#include "agree/core.h"
#include "agree/socket.h"

namespace thinwire::nccl::agree {
namespace {

constexpr int kAcceptsATurn = 64;
constexpr auto kNoDescriptorLeft = 100ms;
constexpr auto kNoRoomLeft = 10ms;
// The time in which what a stranger said with its connection is certainly read.
constexpr auto kIsRead = 50ms;

}  // namespace

std::optional<Address> Core::listen(const Address& local) {
  Address host = local;
  host.port = 0;
  const auto found = listening_.find(host);
  if (found != listening_.end()) return found->second.address;
  Listening made;
  made.address = host;
  made.socket = listen_on(made.address);
  if (!made.socket) return std::nullopt;
  Listening& kept = listening_[host] = std::move(made);
  watch(kept);
  return kept.address;
}

void Core::watch(Listening& on) {
  on.watched =
      loop_.watch(on.socket.fd(), EPOLLIN, [this, &on](std::uint32_t) { accept_some(on); });
}

// It would be told of the same connection again and again.
void Core::pause(Listening& on, std::chrono::milliseconds time) {
  loop_.unwatch(on.watched, on.socket.fd());
  loop_.after(time, [this, &on] { watch(on); });
}

void Core::accept_some(Listening& on) {
  for (int times = 0; times < kAcceptsATurn; ++times) {
    if (!make_room()) return pause(on, kNoRoomLeft);
    Socket socket = accept_one(on.socket);
    if (socket) {
      meet(std::move(socket));
      continue;
    }
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
    return pause(on, kNoDescriptorLeft);
  }
}

// Whether there may be one more stranger; ends the oldest that may be anybody. Those who name a
// communicator are left their time, and others wait in the system's queue: were they ended, and
// came again, a thousand ranks that begin on a few processors would end each other for ever.
bool Core::make_room() {
  if (strangers_.size() < most_strangers()) return true;
  const auto now = Loop::Clock::now();
  for (const auto& [id, each] : strangers_) {
    if (now - each.came < kIsRead) break;  // they are in the order in which they came
    if (each.names_one) continue;
    drop(id);
    return true;
  }
  return false;
}

void Core::meet(Socket socket) {
  const std::uint64_t id = next_stranger_++;
  Stranger& stranger = strangers_[id];
  stranger.came = Loop::Clock::now();
  stranger.link = std::make_unique<Link>(loop_, std::move(socket), [this, id](const Hello& hello) {
    const auto found = find(hello);
    if (found) strangers_.at(id).names_one = true;
    return found;
  });
  stranger.link->on_message = [this, id](Message&& message) { greeted(id, std::move(message)); };
  stranger.link->on_ended = [this, id](const std::string&) { drop(id); };
  stranger.deadline = loop_.after(kGreetingTime, [this, id] { drop(id); });
}

void Core::drop(std::uint64_t stranger) {
  const auto found = strangers_.find(stranger);
  if (found == strangers_.end()) return;
  loop_.cancel(found->second.deadline);
  found->second.link->close();
  loop_.bury(std::move(found->second.link));
  strangers_.erase(found);
}

// Whose communicator the other side claims to be of.
std::optional<Introduction> Core::find(const Hello& hello) const {
  if (hello.child_of) return meetings_.find(hello);
  for (const auto& [id, member] : members_) {
    if (member->is_registered() && member->name() == hello.name) {
      return Introduction{{kVersion, member->secret(), 0, 0}, std::nullopt};
    }
  }
  return meetings_.find(hello);
}

void Core::greeted(std::uint64_t stranger, Message&& message) {
  const auto found = strangers_.find(stranger);
  if (found == strangers_.end()) return;
  std::unique_ptr<Link>& link = found->second.link;
  bool welcome = false;
  if (const auto* said = std::get_if<Register>(&message)) {
    // A rank that is sent away comes again.
    welcome = leaves_some(link->fd()) && meetings_.take(link, *said);
  } else if (const auto* join = std::get_if<Join>(&message)) {
    Member* const member = member_of(join->head);
    welcome = member != nullptr && member->adopt_parent(link, static_cast<int>(join->head.speaker));
  } else if (const auto* pair = std::get_if<Pair>(&message)) {
    Member* const member = member_of(pair->head);
    welcome = member != nullptr && member->adopt_sender(link, static_cast<int>(pair->head.speaker));
  } else if (const auto* again = std::get_if<Again>(&message)) {
    Member* const member = member_of(again->head);
    welcome = member != nullptr && member->adopt_again(link, *again);
  } else if (const auto* call = std::get_if<Call>(&message)) {
    called(*call);
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    if (failed->head.version == kVersion) meetings_.failed(failed->head.secret, failed->text);
  }
  if (!welcome) return drop(stranger);
  loop_.cancel(found->second.deadline);
  strangers_.erase(found);
}

void Core::called(const Call& call) {
  Member* const member = member_of(call.head);
  if (member == nullptr) return;
  if (call.says == Says::kRaw) return member->hear(Decision{false, call.text});
  member->hear(Waiting{call.text});
}

Member* Core::member_of(const Head& head) {
  if (head.version != kVersion) return nullptr;
  for (const auto& [id, member] : members_) {
    const bool meant = member->secret() == head.secret &&
                       member->rank() == static_cast<int>(head.number) && member->is_registered();
    if (meant) return member.get();
  }
  return nullptr;
}

}  // namespace thinwire::nccl::agree
