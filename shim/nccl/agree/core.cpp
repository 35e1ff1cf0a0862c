#include "agree/core.h"

#include <algorithm>

#include "agree/address.h"
#include "base/mix.h"

namespace thinwire::nccl::agree {

Core::Core(Options options)
    : options_(std::move(options)),
      loop_([this] { fail(); }),
      messenger_(loop_),
      idle_(loop_, options_.kept_pairs),
      openings_(loop_),
      meetings_(loop_, messenger_, {options_.registration, options_.late},
                [this](const std::string& text) { tell(text); }) {}

Core::~Core() {
  loop_.stop();
  loop_.join();
}

// Nobody answers any more: other ranks see the connections end.
void Core::fail() {
  for (const auto& [id, member] : members_) member->lose_helper();
  members_.clear();
  strangers_.clear();
  listening_.clear();
}

void Core::tell(const std::string& text) {
  if (std::exchange(heard_of_raw_, true)) return;
  if (options_.tell) options_.tell(text);
}

void Core::warn(Trouble kind, const std::string& text) {
  if (!std::exchange(warned_[kind], true) && options_.warn) options_.warn(text);
}

bool Core::has_room() const { return idle_.has_room(); }

std::optional<Stamp> Core::make_stamp(const Address& interface) {
  const auto address =
      listen(listening_address(interfaces_of_host(), interface, "", options_.family));
  if (!address) return std::nullopt;
  const Stamp made{random_secret(), *address};
  meetings_.expect(made.secret);
  return made;
}

void Core::open(std::uint64_t id, std::shared_ptr<Shared> shared, int rank, int ranks,
                const Stamp& stamp, const std::string& terms, std::uint64_t domain) {
  auto& made = members_[id] = std::make_unique<Member>(*this, id, std::move(shared), rank, ranks);
  made->register_with({stamp.registrar, stamp.secret, std::nullopt, terms, domain}, nullptr);
}

void Core::open_child(std::uint64_t id, std::shared_ptr<Shared> shared, int rank, int ranks,
                      const PartOf& part, int meets, const std::string& terms,
                      std::uint64_t domain) {
  members_[id] = std::make_unique<Member>(*this, id, std::move(shared), rank, ranks);
  Member* const of = member(part.parent);
  if (of == nullptr) return member(id)->become_raw("raw: its parent stayed raw, or had ended");
  const Secret secret = of->secret();
  // The child may have ended before its parent knows.
  of->when_known([=, this](const std::vector<Address>& first, const std::string& why) {
    Member* const child = member(id);
    if (child == nullptr) return;
    if (first.empty()) return child->become_raw(why);
    const auto place = static_cast<std::size_t>(meets);
    if (place >= first.size()) return child->become_raw("raw: it has lost those who know it");
    child->register_as(part, {first[place], derive(secret, part.split, part.color),
                              Lineage{secret, part.split, part.color}, terms, domain});
  });
}

std::optional<Stamp> Core::stamp_of_part(std::uint64_t parent, std::uint64_t split,
                                         std::int32_t color) {
  Member* const of = member(parent);
  if (of == nullptr || !of->is_ready()) return std::nullopt;
  std::optional<Stamp> made;
  of->when_known([&](const std::vector<Address>& first, const std::string&) {
    made = Stamp{derive(of->secret(), split, color), first.front()};
  });
  return made;
}

Member* Core::member(std::uint64_t id) {
  const auto found = members_.find(id);
  return found == members_.end() ? nullptr : found->second.get();
}

void Core::remove(std::uint64_t id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  meetings_.note_end_of(found->second->secret());
  loop_.bury(std::move(found->second));
  members_.erase(found);
}

void Core::leave(std::shared_ptr<std::promise<void>> done) {
  // The program makes no more calls, whether it has ended its communicators or not.
  std::vector<std::uint64_t> all, alive;
  for (const auto& [id, member] : members_) {
    all.push_back(id);
    if (member->is_ready() && !member->is_closed()) alive.push_back(id);
  }
  const auto end_all = [&](bool whole) {
    for (const std::uint64_t id : alive) {
      Member* const each = member(id);
      if (each != nullptr && each->is_whole() == whole) each->close();
    }
  };
  // One that carries what others decide ends after these.
  end_all(false);
  for (const std::uint64_t id : all) {
    if (Member* const each = member(id)) each->lose_kin();
  }
  end_all(true);
  meetings_.leave();
  // A process that leaves some alive may end because something went wrong: others are to know soon.
  const auto patience = alive.empty() ? kLastCallsTime : kExitTime;
  leave_when_done(Loop::Clock::now() + patience, std::move(done));
}

void Core::leave_when_done(Loop::Clock::time_point deadline,
                           std::shared_ptr<std::promise<void>> done) {
  const bool needed = loop_.unfinished != 0 || std::ranges::any_of(members_, [](const auto& each) {
                        return each.second->is_needed();
                      });
  if (needed && Loop::Clock::now() < deadline) {
    loop_.after(5ms, [=, this] { leave_when_done(deadline, done); });
    return;
  }
  for (const auto& [id, member] : members_) member->lose_helper();
  loop_.stop();
  done->set_value();
}

// Over which communicator's tree a communicator finds its siblings.

// The first that the process has made, and has as one rank: other processes take the same one.
Member* Core::first_whole(std::uint32_t job) {
  for (const auto& [id, each] : members_) {
    const bool fits = each->is_whole() && each->ranks() >= static_cast<int>(job);
    if (!fits || each->is_closed()) continue;
    const auto same = std::ranges::count_if(
        members_, [&](const auto& other) { return other.second->secret() == each->secret(); });
    return same == 1 ? each.get() : nullptr;
  }
  return nullptr;
}

void Core::relate(std::uint64_t id, const Kindred& kindred) {
  Member* const made = member(id);
  if (made == nullptr) return;
  if (made->ranks() >= static_cast<int>(kindred.job)) {
    made->become_whole();
    return relate_waiting(*made);
  }
  Member* const whole = first_whole(kindred.job);
  if (whole == nullptr) {
    unrelated_[id] = kindred;
  } else {
    made->relate(*whole, 0, kindred);
  }
}

void Core::relate_waiting(Member& whole) {
  std::erase_if(unrelated_, [&](const auto& each) {
    Member* const made = member(each.first);
    if (made == nullptr) return true;
    if (first_whole(each.second.job) != &whole) return false;
    made->relate(whole, 0, each.second);
    return true;
  });
}

void Core::relate_part(std::uint64_t id, const Kindred& kindred, std::uint64_t parent,
                       std::uint64_t split, std::int32_t color) {
  Member* const made = member(id);
  Member* const of = member(parent);
  if (made == nullptr || of == nullptr) return;
  if (made->ranks() >= static_cast<int>(kindred.job)) return made->become_whole();
  Member* const whole = member(of->whole());
  if (whole == nullptr) return;
  // The rest of a communicator that lost ranks is no part among others.
  const std::int32_t kind = std::min(color, 0);
  made->relate(*whole, mix_of(of->family(), split, kind), kindred);
}

void Core::leave_out(std::uint64_t parent, std::uint64_t split) {
  Member* const of = member(parent);
  Member* const whole = of == nullptr ? nullptr : member(of->whole());
  if (whole == nullptr) return;
  const std::uint64_t name = mix_of(of->family(), split, 0);
  whole->when_known([whole, name](const std::vector<Address>& first, const std::string&) {
    Kin none;
    none.split = name;
    none.from = static_cast<std::uint32_t>(whole->rank());
    if (!first.empty()) whole->send_to_sets(none);
  });
}

}  // namespace thinwire::nccl::agree
