"""Report cards: verdicts follow the rules of docs/evaluate.md, and cards are the same bytes for the same runs."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars as pl
import pytest
import tomli_w
from jsonschema import Draft202012Validator

import sojourn
from conftest import Capture, complaint
from sojourn import _engine, api
from sojourn.analysis.result import Result
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.report import card as card_page
from sojourn.suite import card as cards
from sojourn.suite import contenders, judging, library, words
from sojourn.suite.contenders import Contender
from sojourn.suite.design import ALONE, Kind, Question
from sojourn.suite.judging import Answer, Verdict

#: The sections of RFC 9743 that ask something of an algorithm, and those of RFC 7928 that ask something of a queue discipline.
SECTIONS = {
    "rfc9743": {
        *("5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.5", "5.2", "5.2.1", "5.2.2", "5.2.3", "5.3.1", "5.3.2"),
        *("6.1", "6.2", "6.3", "6.4", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.9", "7.10", "7.11", "8"),
    },
    "rfc7928": {
        *("3.1", "4.3.1", "4.4", "4.5", "4.6", "5.1.1", "5.1.2", "5.2", "5.3", "5.4", "6.2", "7.2"),
        *("8.1", "8.2.2", "8.2.4", "8.2.5", "8.2.6", "8.3", "9.1", "9.2", "10.2", "11.2", "12.2"),
    },
}

NETWORK = {
    "senders": [{"name": "a", "rate": "1 Gbit/s", "delay": "1 ms"}],
    "receivers": [{"name": "b", "rate": "1 Gbit/s", "delay": "1 ms"}],
    "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"name": "droptail", "limit": "50 packets"}},
}

FLOWS = [
    {"from": "a", "to": "b", "group": "victim", "tcp": "cubic"},
    {"from": "a", "to": "b", "group": "candidate", "tcp": "candidate"},
]

#: A question of each rule, of runs of some simulated seconds.
SHARE = {"id": "share", "question": "?", "section": "1", "rule": "harm", "metric": "avg_mbps", "group": "victim"}
USED = {"id": "used", "question": "?", "section": "2", "rule": "own", "metric": "utilisation", "better": "more"}
KEPT = {
    "id": "kept",
    "question": "?",
    "section": "3",
    "rule": "must",
    "query": "select seed, utilisation > 0.1 as holds, utilisation from runs",
}


def suite(*questions: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Returns a suite with these questions."""
    return {
        "name": "small",
        "title": "A small suite",
        "source": "nobody",
        "of": "tcp",
        "comparators": ["cubic", "newreno"],
        "seeds": 6,
        "scenario": {"duration": "6 s", "warm_up": "2 s", "network": {"dumbbell": NETWORK}, "flows": FLOWS},
        "questions": list(questions),
        **changes,
    }


def result(values: Mapping[str, Sequence[float | None]], metric: str = "utilisation") -> Result:
    """Returns runs whose metric is known, by contender and seed."""
    rows = [
        {
            "key": f"{name} {seed}",
            "contender": name,
            "seed": seed,
            metric: value,
            "bottleneck_mbps": 10.0,
            "flow_count": 2,
            "events": seed,  # no run is the same as another
        }
        for name, listed in values.items()
        for seed, value in enumerate(listed, 1)
    ]
    frame = pl.DataFrame(rows, schema_overrides={metric: pl.Float64})
    groups = frame.with_columns(flow_group=pl.lit("victim"))
    return Result(lambda name: (groups if name == "groups" else frame).lazy(), ("contender",))


def judged(
    question: Mapping[str, Any], values: Mapping[str, Sequence[float | None]], against: Sequence[str] = ("cubic",)
) -> Answer:
    """Returns the answer to a question of runs whose metric is known; the candidate is called mine."""
    asked = Question.of(question)
    found = result(values, str(question["metric"]))
    others = [Contender(name, {"name": name}) for name in against]
    return judging.judge(asked, Contender("mine", {}), others, [{}], found)


def test_harm_is_the_part_that_is_lost() -> None:
    """Harm is (alone - beside) / alone of a rate (HotNets 2019, section 3): of 8 beside and 2 left a quarter is left."""
    answer = judged(SHARE, {"mine": [2.0, 2.0], "cubic": [4.0, 4.0], ALONE: [8.0, 8.0]})
    (finding,) = answer.findings
    assert finding.candidate is not None
    assert finding.candidate.mean == pytest.approx(0.75)
    assert finding.comparators["cubic"] == pytest.approx((0.5, 0.5, 0.5))
    assert finding.excess is not None
    assert finding.excess.mean == pytest.approx(0.25)
    assert answer.verdict is Verdict.CONCERN


def test_no_worse_than_the_worst_comparator_passes() -> None:
    """The candidate is held to the comparator with the worst mean, not to the best."""
    answer = judged(SHARE, {"mine": [3.0] * 4, "cubic": [4.0] * 4, "newreno": [2.9] * 4, ALONE: [8.0] * 4}, ["cubic", "newreno"])
    assert answer.verdict is Verdict.PASS


def test_what_counts_as_equal_passes() -> None:
    """A utilisation may be 15 % lower, as values agree everywhere; surely lower than that it is a concern."""
    assert judged(USED, {"mine": [0.89, 0.90, 0.91], "cubic": [1.0, 1.0, 1.0]}).verdict is Verdict.PASS
    assert judged(USED, {"mine": [0.80, 0.81, 0.79], "cubic": [1.0, 1.0, 1.0]}).verdict is Verdict.CONCERN


def test_waits_that_no_host_tells_apart_are_equal() -> None:
    """A wait of 0.05 ms is no concern beside one of 0.01 ms, which is less than hosts tell; one of 0.2 ms is."""
    wait = {key: value for key, value in USED.items() if key != "better"} | {"metric": "sojourn_mean_s"}
    near = {"mine": [4.9e-5, 5.0e-5, 5.1e-5], "cubic": [1e-5] * 3}
    assert judged(wait, near).verdict is Verdict.PASS
    assert judged(wait, near | {"mine": [2.0e-4, 2.1e-4, 1.9e-4]}).verdict is Verdict.CONCERN


def test_intervals_end_at_the_bounds_of_what_is_measured() -> None:
    """No interval of a card has a utilisation above 1 or a harm above 1; it is shown by its ends."""
    used = {"mine": [1.0, 0.9, 1.0], "cubic": [1.0, 0.8, 0.9]}
    lost = {"mine": [0.0, 2.0, 0.0], "cubic": [0.5, 4.0, 1.0], ALONE: [8.0, 8.0, 8.0]}
    for question, values, end in ((USED, used, "100] %"), (SHARE, lost, "1.0]")):
        answer = judged(question, values)
        found = answer.findings[0]
        for each in (found.candidate, *found.comparators.values()):
            assert each is not None
            assert each.high is not None
            assert each.low is not None
            assert each.mean < each.high <= 1
        assert words.number(cards.Row.of(answer), cards.Interval.of(found.candidate)).endswith(f", {end}")
    helped = judged(SHARE, {"mine": [8.2, 8.0], "cubic": [7.9, 8.0], ALONE: [8.0, 8.0]}).findings[0].candidate
    assert helped is not None
    assert helped.low is not None
    assert helped.low < 0


def test_chance_is_no_concern_and_the_seeds_told_decide() -> None:
    """A mean beyond what is allowed within its interval is not decided; with the seeds that the card names, at the same mean and
    deviation, the interval is on one side."""
    mine = [0.5, 1.0, 0.6, 0.95]
    answer = judged(USED, {"mine": mine, "cubic": [1.0] * 4})
    (finding,) = answer.findings
    assert answer.verdict is Verdict.OPEN
    assert finding.seeds_needed is not None
    assert finding.seeds_needed > 4
    differences = [1 - value for value in mine]
    apart = abs(fmean(differences) - finding.allowed)

    def half(seeds: int) -> float:
        return _engine.student_quantile(seeds - 1, 0.975) * stdev(differences) / math.sqrt(seeds)

    assert half(finding.seeds_needed) < apart
    assert half(4) > apart


def test_a_victim_without_a_value_is_harmed_wholly() -> None:
    """What has a value alone and none beside the candidate has lost everything."""
    answer = judged(SHARE, {"mine": [None, None], "cubic": [4.0, 4.0], ALONE: [8.0, 8.0]})
    (finding,) = answer.findings
    assert finding.candidate == pytest.approx((1.0, 1.0, 1.0))


def test_a_candidate_without_a_value_is_a_concern() -> None:
    """A candidate whose transfers never end, say, has no completion time where a comparator has one."""
    assert judged(USED, {"mine": [None, 0.9], "cubic": [1.0, 1.0]}).verdict is Verdict.CONCERN


@pytest.mark.parametrize(("held", "verdict"), [(6, Verdict.PASS), (0, Verdict.FAIL), (4, Verdict.OPEN)])
def test_must(held: int, verdict: Verdict) -> None:
    """What must hold fails if it does not on most seeds: Clopper and Pearson's interval of six of six is above one half."""
    found, needed = judging._most(held, 6, Question.of(KEPT).rule)
    assert found is verdict
    assert (needed is None) == (verdict is not Verdict.OPEN)


def test_should_is_a_concern() -> None:
    """What a standard recommends and most seeds lack is a concern, no failure."""
    assert judging._most(0, 6, Question.of({**KEPT, "rule": "should"}).rule)[0] is Verdict.CONCERN


def test_seeds_that_change_nothing_count_once() -> None:
    """Runs that are the same whatever their seed are one run: it has no interval, and one of one is not most seeds."""
    flows = [{**flow, "start_within": "0 s"} for flow in FLOWS]
    still = {"duration": "6 s", "warm_up": "2 s", "network": {"dumbbell": NETWORK}, "flows": flows, "sender_overhead": "0 s"}
    found = sojourn.evaluate("scalable", suite=suite(SHARE, KEPT, scenario=still))
    assert found["verdict"].to_list() == ["not decided", "not decided"]
    assert found["excess_ci_low"].to_list() == [None, None]
    moving = sojourn.evaluate("scalable", suite=suite(SHARE, KEPT))
    assert moving["verdict"].to_list()[1] == "pass"


def test_a_comparator_passes_by_definition() -> None:
    """CUBIC does no more harm than CUBIC."""
    found = sojourn.evaluate("cubic", suite=suite(SHARE, USED), seeds=2)
    assert found["verdict"].to_list() == ["pass", "pass"]


def test_one_that_heeds_nothing_is_told() -> None:
    """A constant rate of nine tenths of the link takes most of CUBIC's half: it harms more than CUBIC and New Reno do."""
    cbr = {"name": "cbr", "rate": "9 Mbit/s", "packet_size": "1500 B"}
    found = sojourn.evaluate(cbr, suite=suite(SHARE), seeds=4)
    assert found["verdict"].to_list() == ["concern"]
    assert found["candidate"].item() > 0.75


def test_same_bytes(tmp_path: Path) -> None:
    """The same candidate, suite and seeds give the same card, byte by byte, whether its runs are made or found."""
    asked = suite(SHARE, KEPT)
    texts = []
    for out in (tmp_path / "one", tmp_path / "one", tmp_path / "other", None):
        planned = api.plan_evaluation("vegas", suite=asked)
        texts.append(api.ask(planned, out=out).text())
    assert len(set(texts)) == 1
    assert (tmp_path / "one" / "cards" / "vegas.json").read_text() == texts[0]


def test_the_scenario_of_an_answer_makes_the_same_runs(tmp_path: Path) -> None:
    """``NAME.toml`` beside the results of a question is a scenario file with the same runs."""
    api.ask(api.plan_evaluation("vegas", suite=suite(SHARE)), out=tmp_path)
    found = sojourn.run(tmp_path / "share" / "vegas.toml")
    kept = sojourn.open(tmp_path / "share").sql("select key from runs")
    assert sorted(found.runs["key"]) == sorted(kept["key"])


def test_conditions_spread_over_a_range(tmp_path: Path) -> None:
    """An axis may be a range with steps, as in a sweep: its scenario has the same runs, and it can be drawn."""
    axes = {"rate": {"key": "network.dumbbell.bottleneck.rate", "range": "5 Mbit/s..10 Mbit/s", "steps": 2}}
    asked = suite({**SHARE, "axes": axes, "ranges": {"rate": "5 Mbit/s..10 Mbit/s"}})
    api.ask(api.plan_evaluation("vegas", suite=asked, seeds=2), out=tmp_path)
    found = sojourn.run(tmp_path / "share" / "vegas.toml")
    kept = sojourn.open(tmp_path / "share").sql("select key from runs")
    assert sorted(found.runs["key"]) == sorted(kept["key"])
    assert api.plan_evaluation("vegas", suite=asked, seeds=2, draw=1).runs == kept.height


def test_unknown_kind() -> None:
    """A kind that there is not is said in one line."""
    with pytest.raises(InputError, match='unknown kind of suite "link"'):
        sojourn.evaluate("vegas", "link")


def test_drawn_conditions() -> None:
    """``--draw`` takes values from the ranges, the same for the same seed, and others for another."""
    axes = {"buffer": {"key": "network.dumbbell.bottleneck.queue.limit", "values": ["20 packets", "80 packets"]}}
    question = Question.of({**SHARE, "axes": axes, "ranges": {"buffer": {"range": "10 packets..200 packets", "spacing": "log"}}})
    loaded = library.load(suite({**SHARE, "axes": axes, "ranges": {"buffer": "10 packets..200 packets"}}))
    candidate = Contender.of(Kind.TCP, "vegas")

    def labels(seed: int) -> list[str]:
        return [condition["buffer"] for condition in contenders.conditions(contenders.matrix(loaded, question, candidate, seed))]

    assert labels(1) == labels(1)
    assert labels(1) != labels(2)
    assert all(10 <= int(label.split()[0]) <= 200 for label in labels(1))


def test_a_candidate_that_fails_fails_that_question_alone(tmp_path: Path) -> None:
    """An error of the user's code is that question's failure, with its text; the others go on."""
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from sojourn.plugins import CongestionControl\n\n\n"
        "class Mine(CongestionControl):\n"
        "    def increase(self, window, ack):\n"
        "        if ack.now > 3:\n"
        "            raise RuntimeError('enough')\n\n"
        "    def on_congestion(self, window, event):\n"
        "        window.set_ssthresh(window.cwnd / 2)\n"
    )
    short = {**SHARE, "id": "short", "scenario": {"duration": "2 s", "warm_up": "1 s"}}
    planned = api.plan_evaluation(mine, suite=suite(USED, short), seeds=2)
    card = api.ask(planned)
    failed, other = card.rows
    assert failed.verdict is Verdict.FAIL
    assert failed.error is not None
    assert "enough" in failed.error
    assert other.error is None


@pytest.mark.parametrize(
    ("question", "changes", "said"),
    [
        ({**SHARE, "metric": "nosuch"}, {}, 'unknown metric "nosuch"'),
        ({**SHARE, "rule": "best"}, {}, 'unknown rule "best"'),
        ({**USED, "better": None}, {}, 'the metric "utilisation" does not say which is better'),
        ({**SHARE, "group": None}, {}, 'the rule "harm" needs the "group"'),
        ({**KEPT, "query": "select seed from runs"}, {}, 'returns no column "holds"'),
        (KEPT, {"seeds": 5}, "decides with fewer than 6"),
        (SHARE, {"comparators": ["nosuch"]}, 'unknown congestion control "nosuch"'),
        ({**SHARE, "metric": "mos"}, {}, "has no value, so no rule can decide by it"),
        (
            {**SHARE, "scenario": {"flows": FLOWS[:1]}},
            {},
            'none has tcp = "candidate"',
        ),
    ],
)
def test_bad_suites(question: Mapping[str, Any], changes: Mapping[str, Any], said: str) -> None:
    """What no rule can decide is said before the candidate's first run, with the question."""
    with pytest.raises(InputError) as raised:
        sojourn.evaluate("vegas", suite=suite(question, **changes))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tcp", "nosuch"], 'unknown congestion control "nosuch"'),
        (["tcp", "./nosuch.py"], "nosuch.py: there is no such file"),
        (["tcp", "README.md"], "README.md: is not a file of an algorithm (allowed: .py, .c, "),
        (["tcp", "python/sojourn/errors.py"], "errors.py: no class extends CongestionControl or Queue of sojourn.plugins"),
        (["queue", "tests/data/broken/controls/sound.py"], "sound.py defines a congestion control, and no queue discipline"),
        (["queue", "red", "--suite", "rfc9743"], "suite rfc9743: is of a tcp, not of a queue"),
        (["tcp", "bbr", "--suite", "nosuch"], 'unknown suite "nosuch"'),
        (["tcp", "bbr", "--budget", "long"], "--budget long: "),
    ],
)
def test_bad_input(arguments: list[str], said: str, capsys: Capture) -> None:
    """One line, and exit status 2."""
    assert status(["evaluate", *arguments]) == 2
    assert said in complaint(capsys)


def test_command(tmp_path: Path, capsys: Capture) -> None:
    """The exit status is 1 where there is a concern and 0 where there is none; JSON is a card by its schema."""
    own = tmp_path / "own.toml"
    own.write_text(tomli_w.dumps(suite(SHARE)))
    arguments = ["--suite", str(own), "--seeds", "4", "--out", str(tmp_path / "results"), "--full", "--json"]
    assert status(["evaluate", "tcp", '{ name = "cbr", rate = "9 Mbit/s" }', *arguments]) == 1
    card = cards.Card.model_validate(json.loads(capsys.readouterr().out))
    assert [row.verdict for row in card.concerns] == [Verdict.CONCERN]
    assert status(["evaluate", "tcp", "vegas", *arguments]) == 0
    page = (tmp_path / "results" / "cards" / "vegas.html").read_text()
    assert "<svg" in page
    assert "sojourn run" in page


def test_in_a_narrow_terminal(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 80 columns verdicts and measures stay; below them each concern has its question and how the standard was read."""
    own = tmp_path / "own.toml"
    own.write_text(tomli_w.dumps(suite({**SHARE, "question": "Does it share?", "reading": "evenly is half"}, KEPT)))
    monkeypatch.setenv("COLUMNS", "80")
    cbr = '{ name = "cbr", rate = "9 Mbit/s" }'
    assert status(["evaluate", "tcp", cbr, "--suite", str(own), "--out", str(tmp_path / "results"), "--full"]) == 1
    said = capsys.readouterr().out
    assert max(map(len, said.partition("Results are in")[0].splitlines())) <= 80
    words = " ".join(said.split())
    assert "concern: share: Does it share? Read so: evenly is half." in words
    assert "Left out at 80 columns: section" in words
    assert "see all with --json or on the page" in words
    assert "concern: is worse than every comparator" in words


def test_a_queue_s_page_trades_delay_for_goodput(tmp_path: Path) -> None:
    """The page of a queue has ellipses of goodput against delay below each figure, under the card's conditions only."""
    sizes = {"key": "duration", "values": ["5 s", "6 s"]}
    waits = {"id": "waits", "question": "?", "section": "1", "rule": "own", "metric": "sojourn_mean_s", "axes": {"length": sizes}}
    flows = [{**each, "tcp": "cubic"} for each in FLOWS]
    of_queues = suite(waits, of="queue", comparators=["codel"], seeds=3)
    of_queues["scenario"]["flows"] = flows
    api.ask(api.plan_evaluation("pie", "queue", of_queues), out=tmp_path)
    narrow = suite({**waits, "axes": {"length": {**sizes, "values": ["6 s"]}}}, of="queue", comparators=["codel"], seeds=3)
    narrow["scenario"]["flows"] = flows
    card = api.ask(api.plan_evaluation("pie", "queue", narrow), out=tmp_path)
    made = card_page.page(card, tmp_path)
    assert made.count("<svg") == 2
    assert made.count("Goodput against the delay of the queue") == 1
    assert "Mean sojourn time (ms)" in made
    assert "5 s" not in made.partition("<svg")[2].partition("<pre>")[0]


def test_cards_of_several(tmp_path: Path, capsys: Capture) -> None:
    """Those behind --against, and those given with the candidate, have their cards behind its, each once."""
    own = tmp_path / "own.toml"
    own.write_text(tomli_w.dumps(suite(SHARE)))
    arguments = ["--suite", str(own), "--seeds", "2", "--out", str(tmp_path / "results"), "--full", "--json"]
    status(["evaluate", "tcp", "vegas", *arguments, "--against", "cubic", "newreno", "vegas"])
    made = [cards.Card.model_validate(each) for each in json.loads(capsys.readouterr().out)]
    assert [card.candidate for card in made] == ["vegas", "cubic", "newreno"]
    assert status(["evaluate", "tcp", "vegas", *arguments, "--against", "cubic", "nosuch"]) == 2
    assert 'unknown congestion control "nosuch"' in complaint(capsys)


def test_within_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """The questions that come first are asked as far as they fit; one that is too long makes room for a shorter one behind it."""
    monkeypatch.setattr("sojourn.api.evaluating._seconds", lambda *_: iter((10.0, 10.0, 4.0)))
    planned = api.plan_evaluation("vegas", suite=suite(SHARE, USED, KEPT), budget=15)
    assert [each.question.id for each in planned.asked] == ["share", "kept"]
    assert [(each.id, each.why) for each in planned.left_out] == [("used", "about 10 s, more than is left of the budget")]
    with pytest.raises(InputError, match="budget: no question fits; share takes about 10 s, more than is left of the budget"):
        api.plan_evaluation("vegas", suite=suite(SHARE, USED, KEPT), budget=3)


def test_what_a_card_says_of_itself(tmp_path: Path, capsys: Capture) -> None:
    """A card says that its conditions were drawn, and that it is quick; its badge is one line; the schema is that of its JSON."""
    rates = {"rate": {"key": "network.dumbbell.bottleneck.rate", "values": ["10 Mbit/s"]}}
    drawn = {**SHARE, "axes": rates, "ranges": {"rate": "5 Mbit/s..10 Mbit/s"}, "quick": {"seeds": 2}}
    own = tmp_path / "own.toml"
    own.write_text(tomli_w.dumps(suite(drawn, USED)))
    asked = ["evaluate", "tcp", "vegas", "--suite", str(own), "--quick", "--draw", "3", "--out", str(tmp_path / "results")]
    assert status(asked) == 0
    said = capsys.readouterr()
    assert "1 question left out, --full asks all" in said.err
    assert "vegas by nobody (quick), conditions drawn by seed 3, simulator" in said.out
    assert "Not asked, not in the quick card: used." in said.out
    assert status([*asked, "--badge"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"**vegas**, small (quick): 1 pass (Sojourn {_engine.version()})"
    assert status(["schema", "card"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert status([*asked, "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    Draft202012Validator(schema).validate(card)
    assert card["draw"] == 3


def test_the_cellular_link_is_that_of_the_examples() -> None:
    """The rates of the questions radio and radio-delay are the means of each second of examples/cellular.csv."""
    rates = pl.read_csv(Path("examples/cellular.csv")).filter(pl.col("time_s") < 60)
    second = pl.col("time_s").floor().cast(pl.Int64)
    means = rates.group_by(second.alias("second")).agg(pl.col("rate_mbit_s").mean()).sort("second")["rate_mbit_s"]
    for asked in ("radio", "radio-delay"):
        (question,) = (each for each in library.load("rfc9743").questions if each.id == asked)
        assert question.set is not None
        changes = question.set["network.dumbbell.bottleneck.changes"]
        assert [each["rate"] for each in changes] == [f"{mean:.1f} Mbit/s" for mean in means]
        assert [each["at"] for each in changes] == [f"{second} s" for second in range(60)]


def test_sections_are_those_of_the_standards() -> None:
    """Each question, and each of those for the author, names sections that the RFC's table of contents has."""
    for name, known in SECTIONS.items():
        loaded = library.load(name)
        asked = [*(each.section for each in loaded.questions), *(each.section for each in loaded.asked)]
        assert {section for each in asked for part in each.split(", ") for section in part.split(" to ")} <= known


def test_suites_are_sound() -> None:
    """Every suite that comes with Sojourn makes scenarios, and its queries can be asked."""
    assert library.available()
    for name in library.available():
        loaded = library.load(name)
        planned = api.plan_evaluation(loaded.comparators[0], str(loaded.kind), name)
        assert len(planned.asked) == len(loaded.questions), name
