"""A release's splitter in two readings of one text: lifted for the solver, run by CPython.

The cache manager's own checkpoint predicate is read the same way, from the two calls in its source,
because a chunk may pass a boundary only where the manager exports the state in between.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from truehit.proofs.lift import (
    Definedness,
    Domain,
    IntegerDomain,
    Lifted,
    Maybe,
    RadixDomain,
    SourceTree,
    Unsupported,
    Value,
    lift_call,
    lift_source,
)
from truehit.proofs.lift.api import call_in, free_names
from truehit.proofs.lift.concrete import Extracted, extract, extract_expression
from truehit.proofs.lift.tree import FunctionDefinition, locate
from truehit.proofs.releases.chunk import (
    FEATURES,
    MANAGER,
    PATHS,
    POSITION_CALL,
    SIZES,
    SPLITTER,
    TOKENS,
    VALID_CALL,
    Chunk,
)
from truehit.proofs.releases.scope import AllSizes, Scope
from truehit.proofs.terms import Bool, all_of

ALLOCATE = f"{MANAGER}.get_num_blocks_to_allocate"
NEEDS = f"{MANAGER}._needs_internal_checkpoint"
CANONICAL = {path: word for word, paths in PATHS.items() for path in paths}


@dataclass(frozen=True, slots=True)
class Reading:
    """The splitter as terms.

    `words` are the words of a `Chunk`, `asked` those of them that are a question here, `extra` the
    inputs that have no word, by their path.
    """

    domain: Domain
    words: dict[str, Value]
    asked: tuple[str, ...]
    extra: dict[str, Value]
    defined: list[Definedness]
    lifted: tuple[Lifted, ...]


@dataclass(frozen=True, slots=True)
class Exports:
    """The manager's checkpoint predicate, cut out of its source."""

    position: Extracted
    valid: Extracted


@dataclass(frozen=True, slots=True)
class Subject:
    """A release to be judged."""

    tree: SourceTree
    splitter: Extracted
    exports: Exports | None

    def read(self, scope: Scope) -> Reading:
        """Lift the splitter and the manager's predicate over one symbolic chunk.

        Raises:
            Unsupported: the source leaves the liftable fragment; the message names the line.
        """
        domain, words = _symbols(scope)
        bind = {path: words[word] for path, word in CANONICAL.items()}
        lifted = lift_source(self.tree, SPLITTER, domain, bind)
        used = tuple(dict.fromkeys(CANONICAL[p] for p in lifted.inputs if p in CANONICAL))
        absent = [word for word in ("lookahead", *FEATURES, "alignment") if word not in used]
        words |= {word: _neutral(word) for word in absent}
        words["scheduled"] = lifted.result
        words["exported"], more = self._exported(domain, words)
        extra = {path: value for path, value in lifted.inputs.items() if path not in CANONICAL}
        asked = tuple(w for w in (*TOKENS, *FEATURES, "alignment") if w not in absent)
        return Reading(domain, words, asked, extra, lifted.defined, (lifted, *more))

    def run(self, inputs: Mapping[str, object]) -> Chunk:
        """Run the splitter in CPython; raises what the source raises."""
        words = completed(inputs)
        given = {path: words[word] for path, word in CANONICAL.items()}
        given |= {path: value for path, value in inputs.items() if path not in words}
        scheduled = self.splitter.run(given)
        asked = chunk(words | {"scheduled": scheduled, "exported": False})
        if self.exports is None or not asked.checkpoints:
            return asked
        hit_alignment = asked.unit if asked.fine else asked.scheduler_block
        position = self.exports.position.run(
            {
                "num_tokens": asked.end,
                **_manager(words, hit_alignment),
            }
        )
        valid = self.exports.valid.run(
            {
                "query_start": asked.start,
                "query_end": asked.end,
                "checkpoint_position": position,
                **_manager(words, hit_alignment),
            }
        )
        return chunk(words | {"scheduled": scheduled, "exported": bool(valid)})

    def _exported(
        self, domain: Domain, words: Mapping[str, Value]
    ) -> tuple[Bool, tuple[Lifted, ...]]:
        if self.exports is None or words["checkpoints"] is False:
            return False, ()
        start = domain.add(words["computed"], domain.add(words["local_hit"], words["external_hit"]))
        end = domain.add(start, words["scheduled"])
        fine = words["fine"]
        hit_alignment = domain.merge(fine, words["unit"], words["scheduler_block"])
        common = _manager(words, hit_alignment)
        position = lift_call(
            self.tree, ALLOCATE, POSITION_CALL, domain, {"num_tokens": end, **common}
        )
        question = {"query_start": start, "query_end": end, "checkpoint_position": position.result}
        valid = lift_call(self.tree, NEEDS, VALID_CALL, domain, {**question, **common})
        exported = all_of(words["checkpoints"], valid.result)
        return exported, (position, valid)


def subject(tree: SourceTree) -> Subject:
    """The splitter of a tree, ready to be read and run.

    Raises:
        Unsupported: the tree has no splitter of that name.
    """
    return Subject(tree, extract(tree, SPLITTER), _exports(tree))


def chunk(words: Mapping[str, object]) -> Chunk:
    """A chunk from its words, whatever they are: numbers for CPython, terms for the solver."""
    return Chunk(**{name: words[name] for name in Chunk.__dataclass_fields__})  # type: ignore[arg-type]


def _exports(tree: SourceTree) -> Exports | None:
    """The manager's predicate, or nothing in a release whose manager has none of this form."""
    cut: list[Extracted] = []
    for name, callee in ((ALLOCATE, POSITION_CALL), (NEEDS, VALID_CALL)):
        function = locate(tree, name)
        if not isinstance(function, FunctionDefinition):
            return None
        try:
            call = call_in(function, callee)
        except Unsupported:
            return None
        names = tuple(free_names(function, call))
        cut.append(extract_expression(tree, function, call, names))
    return Exports(cut[0], cut[1])


def _manager(words: Mapping[str, object], hit_alignment: object) -> dict[str, object]:
    """The manager's attributes in the words of a chunk."""
    return {
        "self.block_size": words["grid"],
        "self.block_pool.hash_block_size": words["unit"],
        "self.block_pool.num_hash_lookahead_tokens": words["lookahead"],
        "self.cache_hit_alignment_tokens": hit_alignment,
        "self.drop_eagle_checkpoint_block": words["drop"],
        "self.kv_cache_spec.prefill_checkpoint_alignment": words["alignment"],
    }


def _symbols(scope: Scope) -> tuple[Domain, dict[str, Value]]:
    """A fresh domain with one symbol a word."""
    words: dict[str, Value] = {}
    domain: Domain
    if isinstance(scope, AllSizes):
        radix = RadixDomain("unit", "alignment", "block")
        words |= {size: radix.size("unit" if size == "unit" else "block") for size in SIZES}
        alignment = radix.size("alignment")
        domain = radix
    else:
        domain = IntegerDomain()
        words |= {size: getattr(scope, size) for size in SIZES}
        fixed = scope.alignment
        alignment = domain.integer("alignment") if fixed is None else fixed
    words |= {word: domain.integer(word) for word in TOKENS}
    words |= {word: domain.boolean(word) for word in FEATURES}
    words["alignment"] = Maybe(domain.boolean("alignment.is_none"), alignment)
    return domain, words


def _neutral(word: str) -> object:
    if word == "alignment":
        return None
    return 0 if word in TOKENS else False


def completed(inputs: Mapping[str, object]) -> dict[str, object]:
    """All words of a question; one that is left out is zero, false or None."""
    words = {word: _neutral(word) for word in (*TOKENS, *FEATURES, "alignment")}
    return words | {name: inputs[name] for name in (*words, *SIZES) if name in inputs}
