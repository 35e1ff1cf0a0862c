#include "agree/meetings.h"

#include <algorithm>

namespace thinwire::nccl::agree {

void Meetings::expect(const Secret& secret) {
  const Name name = name_of(secret);
  const auto [found, added] = meetings_.try_emplace(name);
  if (!added) return;
  found->second = {secret, std::make_unique<Meeting>(loop_, messenger_, secret, times_, tell_)};
  by_age_.push_back(name);
  if (by_age_.size() > kMostMeetings) forget_one();
}

void Meetings::note_end_of(const Secret& secret) {
  const Name name = name_of(secret);
  if (!parents_.contains(name)) return;
  ended_parents_.push_back(name);
  if (ended_parents_.size() <= kMostMeetings) return;
  parents_.erase(ended_parents_.front());
  ended_parents_.pop_front();
}

// The oldest that is decided; else the oldest.
void Meetings::forget_one() {
  const auto decided = [this](const Name& each) {
    return meetings_.at(each).meeting->is_decided();
  };
  auto which = std::ranges::find_if(by_age_, decided);
  if (which == by_age_.end()) which = by_age_.begin();
  const auto oldest = meetings_.find(*which);
  loop_.bury(std::move(oldest->second.meeting));
  meetings_.erase(oldest);
  by_age_.erase(which);
}

std::optional<Introduction> Meetings::find(const Hello& hello) const {
  if (const auto& of = hello.child_of) {
    const auto parent = parents_.find(of->parent);
    if (parent == parents_.end()) return std::nullopt;
    const Secret secret = derive(parent->second, of->split, of->color);
    if (name_of(secret) != hello.name) return std::nullopt;
    return Introduction{{kVersion, secret, 0, 0}, Lineage{parent->second, of->split, of->color}};
  }
  const auto found = meetings_.find(hello.name);
  if (found == meetings_.end()) return std::nullopt;
  return Introduction{{kVersion, found->second.secret, 0, 0}, std::nullopt};
}

bool Meetings::take(std::unique_ptr<Link>& link, const Register& said) {
  if (said.child_of) expect(said.head.secret);
  const auto found = meetings_.find(name_of(said.head.secret));
  if (found == meetings_.end()) return false;
  found->second.meeting->take({std::move(link), nullptr}, said);
  return true;
}

void Meetings::take_of_tree(const Register& said, std::function<bool(const Message&)> tree) {
  expect(said.head.secret);
  meetings_.at(name_of(said.head.secret)).meeting->take({nullptr, std::move(tree)}, said);
}

void Meetings::leave() {
  for (const auto& [name, each] : meetings_) each.meeting->leave();
}

void Meetings::failed(const Secret& secret, const std::string& why) {
  const auto found = meetings_.find(name_of(secret));
  if (found != meetings_.end()) found->second.meeting->failed(why);
}

}  // namespace thinwire::nccl::agree
