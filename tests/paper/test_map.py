"""PAPER.md is true: its names exist, and no label or function of theory is left out."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

from optimist import theory
from optimist.verification.verify import OF_IMITATIONS, OF_NUMBERS, OF_RUNS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "PAPER.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))
NAMES = [text for text in QUOTED if re.fullmatch(r"optimist(\.\w+)+", text)]
TESTS = [text for text in QUOTED if text.startswith("tests/")]
CHECKS = [text.removeprefix("verify: ") for text in QUOTED if text.startswith("verify: ")]
KEYS = [statement.key for statement in (*OF_RUNS, *OF_IMITATIONS, *OF_NUMBERS)]
ERRATA = re.findall(r"^\*\*E(\d+)\.", PAGE, flags=re.MULTILINE)

LABELS_OF_THE_PAPER = """
fig:illustration-mdps ass:LinMDP eq:DPupdate alg:linear-rmax-ravi-ucb line-alg:epoch
line-alg:bonuses line-alg:pplus line-alg:ridge line-alg:transf thm:main cor:sample
eq:validity-bonuses lem:reward-bias-bound lem:model-bias-bounds eq:model-bias-bounds
lem:bound-regret-plus eq:ascension-function-bound lem:qmax lem:expected-bonuses-bound
lem:good-event-holds thm:FraUpper alg:linear-rmax-ravi-ucb-full line-alg:epoch-full
line-alg:bonuses-full line-alg:pplus-full line-alg:ridge-full line-alg:transf-full alg:fra
algline:expert_estimation algline:OGDstart algline:OGDend fig:bias-term eq:hope-decomp lem:bound-q
eq:bound-q lem:expectation-to-highprob eq:function-class-v lem:lmax lem:iterates-in-class
lem:uniform-event-holds lem:covering-number-v thm:main-full tab:literature eq:dec
thm:reward_regret_bound prot:interaction thm:LowerK thm:LowerTauE thm:lower-bound-2states_expert
eq:bellman-eq-x0-a eq:bellman-eq-x0-astar eq:q-x0-astar-inter eq:q-x1-astar-inter eq:q-x0-astar
eq:sum_lower_bound eq:appE2-average-return eq:appE2-diffx0 eq:appE2-diffx1 eq:partial_lower_bound
prop:flow eq:flow lem:from-ev-to-q lem:ineq-kl-entropy lem:mass-reduced lemma:number-epochs-bound
lem:sigmoid-bound lem:sigmoid-bound2 eq:critical-point-prop lem:lse-lipschitz
lem:det-elliptical-bound lemma:beta_bound lem:concentration-ineq-cond-exp
lem:bound-elliptical-potential
"""
"""Every label of the paper's source but those of sections, in their order."""

LABELS = LABELS_OF_THE_PAPER.split()


def test_there_is_something_to_check():
    assert len(NAMES) > 100
    assert len(TESTS) > 100
    assert len(CHECKS) > 40
    assert len(LABELS) == len(set(LABELS)) == 73


def test_everything_in_code_type_that_looks_like_one_of_these_is_one():
    """A slip such as `optimist.mdp augment` would otherwise be no name at all."""
    commands = r"optimist( \w+( \w+)?( --\w+)?)?"
    names = {t for t in QUOTED if t.startswith("optimist") and not re.fullmatch(commands, t)}
    assert names - set(NAMES) == set()
    assert {text for text in QUOTED if "::" in text} - set(TESTS) == set()


def exists(name):
    """Whether a dotted name leads to a module, or from a module to an attribute."""
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        for part in parts[depth:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_names_exist():
    assert [name for name in NAMES if not exists(name)] == []


def functions_in(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    return {f"{path}::{name}" for name in functions if name.startswith("test_")}


def test_tests_exist():
    paths = {test.partition("::")[0] for test in TESTS}
    assert {path for path in paths if not (ROOT / path).is_file()} == set()
    assert set(TESTS) - paths - set().union(*map(functions_in, paths)) == set()


def test_checks_exist_and_all_are_named():
    assert set(CHECKS) == set(KEYS)
    assert len(KEYS) == len(set(KEYS))


def test_all_labels_of_the_paper_are_named():
    assert set(LABELS) - set(QUOTED) == set()


def public_names_of_theory():
    """Every public function and class of the theory; `numbers` is about arguments alone."""
    for module in pkgutil.iter_modules(theory.__path__, "optimist.theory."):
        if module.name == "optimist.theory.numbers":
            continue
        for name, found in vars(importlib.import_module(module.name)).items():
            made_here = getattr(found, "__module__", None) == module.name
            kind = inspect.isfunction(found) or inspect.isclass(found)
            if made_here and kind and not name.startswith("_"):
                yield f"{module.name}.{name}"


def test_all_of_the_theory_is_named():
    names = set(public_names_of_theory())
    assert len(names) > 50
    assert names - set(NAMES) == set()


def test_links_lead_somewhere():
    titles = re.findall(r"^#+ (.+)$", PAGE, flags=re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    links = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert len(links) > 4
    for link in links:
        if link.startswith("#"):
            assert link[1:] in anchors
        elif "://" not in link:
            assert (ROOT / link.partition("#")[0]).exists(), link


def test_errata_are_numbered_and_all_that_are_named_exist():
    """In order within each of the three parts; an erratum that moves keeps its number."""
    assert sorted(map(int, ERRATA)) == list(range(1, len(ERRATA) + 1))
    for part in re.split(r"^### ", PAGE[PAGE.index("## Errata") :], flags=re.MULTILINE)[1:]:
        numbers = [int(n) for n in re.findall(r"^\*\*E(\d+)\.", part, flags=re.MULTILINE)]
        assert numbers == sorted(numbers)
    named = re.findall(r"\bE(\d+)\b", re.sub(r"`[^`\n]+`", "", PAGE))
    assert set(named) == set(ERRATA)


def test_every_test_of_the_errata_is_named_by_its_own():
    """test_e7_... stands in the paragraph of E7."""
    paragraphs = re.split(r"^\*\*E(?=\d+\.)", PAGE, flags=re.MULTILINE)[1:]
    named = set()
    for paragraph in paragraphs:
        number = paragraph.partition(".")[0]
        tests = re.findall(r"`(tests/paper/test_errata\w*\.py::\w+)`", paragraph)
        assert all(f"::test_e{number}_" in test for test in tests)
        named |= set(tests)
    files = (ROOT / "tests/paper").glob("test_errata*.py")
    assert named == set().union(*(functions_in(f"tests/paper/{file.name}") for file in files))


def test_tables_have_as_many_cells_as_columns():
    wide = 0
    for line in PAGE.splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert wide in (0, cells) or cells == 0, line
        wide = cells
