"""Whether two trees split alike: *proved* for a domain, or the smallest input on which they do not.

Asked in every scope of a release's own proofs. What cannot be lifted is run instead: every question
of a small scope, on both texts. A tree without a splitter under the known name is not compared.
"""

from truehit.adapters.vllm.compare.nearest import nearest
from truehit.adapters.vllm.compare.pair import Difference, Extent, Pair, Rule, Together
from truehit.adapters.vllm.compare.report import RuleOutcome, RuleRow, RuleVerdict
from truehit.proofs.lift import SourceTree, Unsupported
from truehit.proofs.releases.executed import STRANGE, WIDEST_BLOCK, mentioned, small_scope
from truehit.proofs.releases.judge import RLIMIT
from truehit.proofs.releases.polish import cost
from truehit.proofs.releases.replay import shown
from truehit.proofs.releases.scope import SCOPES
from truehit.proofs.releases.subject import subject
from truehit.proofs.solve import solve
from truehit.proofs.sources import SourceError


def compare_rules(base: SourceTree, head: SourceTree) -> list[RuleRow]:
    """One row a rule and domain."""
    try:
        pair = Pair(subject(base), subject(head))
    except (SourceError, Unsupported) as problem:
        return [_row(Rule.SPLITTER, "", "not compared", reason=str(problem))]
    rows: list[RuleRow] = []
    refused: list[str] = []
    for scope in SCOPES:
        try:
            together = pair.read(scope)
        except Unsupported as problem:
            refused.append(f"{scope.label}: {problem}")
            continue
        for rule in _rules(pair):
            rows += _asked(pair, together, rule)
    if refused:
        rows.append(_executed(pair, "; ".join(refused)))
    return rows


def _rules(pair: Pair) -> tuple[Rule, ...]:
    exports = pair.base.exports is not None or pair.head.exports is not None
    return (Rule.SPLITTER, Rule.EXPORT) if exports else (Rule.SPLITTER,)


def _asked(pair: Pair, together: Together, rule: Rule) -> list[RuleRow]:
    """The shared inputs, and where those are alike, the words that only one side has."""
    label, words = together.scope.label, ", ".join(together.one_sided)
    if not words:
        return [_answered(pair, together, rule, Extent.SHARED, label)]
    shared = _answered(pair, together, rule, Extent.SHARED, f"{label}, without {words}")
    if shared.verdict != "proved":
        return [shared]
    return [shared, _answered(pair, together, rule, Extent.WHOLE, f"{label}, with {words}")]


def _answered(pair: Pair, together: Together, rule: Rule, extent: Extent, domain: str) -> RuleRow:
    answer = solve(together.question(rule, extent), RLIMIT)
    match answer.verdict:
        case "unsat":
            is_met = solve(together.cover(extent), RLIMIT).verdict == "sat"
            reason = "" if is_met else "no input of the domain was found"
            return _row(rule, domain, "proved" if is_met else "unknown", reason=reason)
        case "sat":
            found, minimal = nearest(pair, together, rule, extent, answer.model)
            if found is None:
                reason = "both texts answer alike on the solver's model"
                return _row(rule, domain, "model finding", reason=reason)
            return _differing(rule, domain, found, minimal=minimal)
    return _row(rule, domain, "unknown", reason=f"the solver gave up after {RLIMIT} units of work")


def _executed(pair: Pair, why: str) -> RuleRow:
    """Every question of the small scope, on both; the cheapest that tells them apart."""
    features = tuple(sorted({*mentioned(pair.base), *mentioned(pair.head)}))
    cheapest: Difference | None = None
    runs = 0
    try:
        for inputs in small_scope(features):
            runs += 1
            if cheapest is not None and cost(inputs) >= cost(cheapest.inputs):
                continue
            cheapest = pair.run(Rule.SPLITTER, inputs) or cheapest
    except STRANGE as problem:
        reason = f"neither lifted nor executed: {problem} ({why})"
        return _row(Rule.SPLITTER, "", "not compared", reason=reason)
    domain = f"blocks up to {WIDEST_BLOCK}, executed in {runs} runs"
    if cheapest is None:
        return _row(Rule.SPLITTER, domain, "checked", reason=why)
    return _differing(Rule.SPLITTER, domain, cheapest, minimal=True, reason=why)


def _differing(
    rule: Rule, domain: str, found: Difference, *, minimal: bool, reason: str = ""
) -> RuleRow:
    answers = RuleOutcome(base=found.base.words(rule), head=found.head.words(rule))
    return RuleRow(
        rule=rule,
        domain=domain,
        verdict="differ",
        inputs=shown(found.inputs),
        outcome=answers,
        minimal=minimal,
        reason=reason,
    )


def _row(rule: Rule, domain: str, verdict: RuleVerdict, reason: str) -> RuleRow:
    return RuleRow(
        rule=rule,
        domain=domain,
        verdict=verdict,
        inputs={},
        outcome=None,
        minimal=False,
        reason=reason,
    )
