#include "agree/siblings.h"

#include <algorithm>
#include <utility>

namespace thinwire::nccl::agree {

bool SiblingSets::take(const Kin& kin) {
  if (stopped_) return true;
  if (kin.from >= ranks_ || (kin.split == 0 && kin.tag == 0)) return false;
  // Others cannot fill the memory with communicators that nobody else is in.
  if (splits_.size() + alike_.size() + named_.size() >= kMostMeetings) return true;
  const bool is_alike = kin.tag != 0 && kin.siblings == 0;
  if (kin.tag != 0 && kin.siblings > 1) take_named(kin);
  if (is_alike) {
    alike_[kin.alike].try_emplace(kin.from, kin);
    if (kin.split == 0) by_kind_.insert(kin.tag);
  }
  if (kin.split != 0) {
    Kin of_split = kin;
    // For the others of that split it is as if left out.
    if (!is_alike) of_split.tag = 0;
    splits_[kin.split].try_emplace(kin.from, of_split);
    adopt_split(kin.split);
  }
  if (is_alike) adopt_alike(kin.alike);
  return true;
}

// If more come than were named, nobody knows which are meant.
void SiblingSets::take_named(const Kin& kin) {
  Named& of = named_[kin.alike];
  if (of.is_spoiled) return;
  if (of.set != nullptr) {
    dissolve(std::exchange(of.set, nullptr));
    of.is_spoiled = true;
    return;
  }
  of.table.try_emplace(kin.from, kin);
  const Kin& first = of.table.begin()->second;
  if (of.table.size() < std::uint64_t{first.siblings} * first.ranks) return;
  const Table table = std::exchange(of.table, {});
  if (are_siblings(table)) {
    of.set = form(table);
  } else {
    of.is_spoiled = true;
  }
}

// Adopts a split. If it has left ranks out, as one that makes one group alone does, kinds decide.
void SiblingSets::adopt_split(std::uint64_t split) {
  const auto found = splits_.find(split);
  if (found->second.size() < ranks_) return;
  const Table table = std::move(found->second);
  splits_.erase(found);
  if (are_siblings(table)) {
    form(table);
    return;
  }
  std::set<std::uint64_t> kinds;
  for (const auto& [rank, kin] : table) {
    if (kin.tag == 0) continue;
    by_kind_.insert(kin.tag);
    kinds.insert(kin.alike);
  }
  for (const std::uint64_t kind : kinds) adopt_alike(kind);
}

void SiblingSets::adopt_alike(std::uint64_t alike) {
  const auto found = alike_.find(alike);
  if (found == alike_.end() || found->second.size() < ranks_) return;
  const auto is_open = [this](const auto& each) {
    return by_kind_.contains(each.second.tag) && !places_.contains(each.second.tag);
  };
  const bool is_taken = std::ranges::any_of(
      found->second, [this](const auto& each) { return places_.contains(each.second.tag); });
  if (!is_taken && !std::ranges::all_of(found->second, is_open)) return;
  const Table table = std::move(found->second);
  alike_.erase(found);
  if (!is_taken && are_siblings(table)) form(table);
}

// Each rank is in one of them, and each of them is whole.
bool SiblingSets::are_siblings(const Table& table) const {
  const Kin& first = table.begin()->second;
  std::map<std::uint64_t, std::set<std::uint32_t>> found;
  for (const auto& [rank, kin] : table) {
    const bool is_like = kin.tag != 0 && kin.ranks == first.ranks && kin.layout == first.layout &&
                         kin.siblings == first.siblings;
    if (!is_like || !found[kin.tag].insert(kin.rank).second) return false;
  }
  return std::ranges::all_of(found,
                             [&](const auto& each) { return each.second.size() == first.ranks; });
}

std::shared_ptr<SiblingSets::Set> SiblingSets::form(const Table& table) {
  const auto made = std::make_shared<Set>();
  for (const auto& [rank, kin] : table) {
    by_kind_.erase(kin.tag);
    if (kin.rank != 0) continue;
    places_[kin.tag] = {made, static_cast<int>(made->tags.size())};
    made->tags.push_back(kin.tag);
    made->roots.push_back(rank);
  }
  Set* const set = made.get();
  const auto say = [this, set](const Message& message) {
    for (std::size_t at = 0; at < set->tags.size(); ++at) {
      if (set->gone.contains(static_cast<int>(at))) continue;
      Joined joined{set->roots[at], set->tags[at], {}};
      if (const auto* ask = std::get_if<Ask>(&message)) joined.said = *ask;
      if (const auto* commit = std::get_if<Commit>(&message)) joined.said = *commit;
      say_(joined.to, joined);
    }
  };
  set->rounds.start({nullptr, say, static_cast<int>(set->tags.size())});
  sets_.insert(made);
  for (std::size_t at = 0; at < set->tags.size(); ++at) {
    say_(set->roots[at], Siblings{set->roots[at], set->tags[at], true});
  }
  return made;
}

void SiblingSets::dissolve(const std::shared_ptr<Set>& set) {
  set->rounds.stop();
  for (std::size_t at = 0; at < set->tags.size(); ++at) {
    if (set->gone.contains(static_cast<int>(at))) continue;
    say_(set->roots[at], Siblings{set->roots[at], set->tags[at], false});
  }
  std::erase_if(places_, [&](const auto& each) { return each.second.set == set; });
  sets_.erase(set);
}

void SiblingSets::forget(std::map<std::uint64_t, Table>& tables, const NoKin& gone) {
  for (auto each = tables.begin(); each != tables.end();) {
    Table& table = each->second;
    const auto found = table.find(gone.from);
    if (found != table.end() && found->second.tag == gone.tag) table.erase(found);
    each = table.empty() ? tables.erase(each) : std::next(each);
  }
}

// Names may be new ones each time: those that nobody has are forgotten.
void SiblingSets::forget_named(const NoKin& gone) {
  for (auto each = named_.begin(); each != named_.end();) {
    Named& named = each->second;
    const auto said = named.table.find(gone.from);
    const bool is_it = said != named.table.end() && said->second.tag == gone.tag;
    if (is_it) named.table.erase(said);
    const bool is_over = is_it && named.table.empty() && !named.set && !named.is_spoiled;
    each = is_over ? named_.erase(each) : std::next(each);
  }
}

// A communicator has ended after its first rank says so: its ranks make no call any more that the
// others' ranks have not made.
bool SiblingSets::take(const NoKin& gone) {
  if (stopped_) return true;
  forget(splits_, gone);
  forget(alike_, gone);
  forget_named(gone);
  by_kind_.erase(gone.tag);
  const auto found = places_.find(gone.tag);
  if (found == places_.end()) return true;
  const auto [set, number] = found->second;
  if (set->roots[static_cast<std::size_t>(number)] != gone.from) return true;
  places_.erase(found);
  set->gone.insert(number);
  set->rounds.drop(number);
  if (set->gone.size() < set->tags.size()) return true;
  std::erase_if(named_, [&](const auto& each) { return each.second.set == set; });
  sets_.erase(set);
  return true;
}

bool SiblingSets::take(const Joined& joined) {
  const auto found = places_.find(joined.tag);
  if (stopped_ || found == places_.end()) return true;
  const auto [set, number] = found->second;
  if (const auto* offered = std::get_if<Offered>(&joined.said)) {
    return is_joined(offered->key) && set->rounds.take(number, *offered);
  }
  const auto* limit = std::get_if<Limit>(&joined.said);
  return limit != nullptr && set->rounds.take(number, *limit);
}

void SiblingSets::stop() {
  if (std::exchange(stopped_, true)) return;
  for (const auto& set : std::set(sets_)) dissolve(set);
  named_.clear();
  splits_.clear();
  alike_.clear();
  by_kind_.clear();
}

}  // namespace thinwire::nccl::agree
