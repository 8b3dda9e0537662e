"""The same question to a second solver, cvc5, over the same text.

cvc5 has no count of work that stops it at the same place everywhere, so it gets a time limit; its
answers are kept by text hash and version and never overrule a proof by being slow.
"""

import re
import time

from truehit.proofs.solve import Answer, Satisfiability, text_sha256


def solve_again(smt2_text: str, limit_seconds: float = 30.0) -> Answer:
    """Ask cvc5 whether the text is satisfiable.

    Raises:
        ModuleNotFoundError: cvc5 is not installed (extra `solvers`).
    """
    import cvc5

    started = time.process_time()
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(int(limit_seconds * 1000)))
    solver.setOption("produce-models", "true")
    solver.setLogic("ALL")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, _body(smt2_text), "question")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    result = solver.checkSat()
    verdict: Satisfiability = "unknown"
    model: dict[str, int | bool] = {}
    if result.isSat():
        verdict = "sat"
        for term in symbols.getDeclaredTerms():
            value = solver.getValue(term)
            if value.isIntegerValue():
                model[_plain(str(term))] = int(str(value.getIntegerValue()))
            elif value.isBooleanValue():
                model[_plain(str(term))] = bool(value.getBooleanValue())
    elif result.isUnsat():
        verdict = "unsat"
    return Answer(
        verdict=verdict,
        model=model,
        rlimit_used=0,
        seconds=time.process_time() - started,
        text_sha256=text_sha256(smt2_text),
        solver="cvc5",
        version=_text(solver.getVersion()),
    )


def _body(smt2_text: str) -> str:
    """The declarations and assertions alone: the check is asked through the interface."""
    return re.sub(r"^\((check-sat|set-logic [A-Z_]+|set-info .*)\)\s*$", "", smt2_text, flags=re.M)


def _plain(symbol: str) -> str:
    return symbol[1:-1] if symbol.startswith("|") else symbol


def _text(version: str | bytes) -> str:
    """cvc5's own name for its version, which some builds return as bytes."""
    return version.decode() if isinstance(version, bytes) else version
