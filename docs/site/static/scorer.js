// How search orders what it finds: pages for users first, records of the project last.
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (/^docs\/(tutorial|guide|reference)\/|^README/.test(page)) return score + 10;
    if (/^docs\/(results|decisions)\/|^CHANGELOG|^tests\//.test(page)) return score - 10;
    return score;
  },

  // The rest is as Sphinx has it.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
