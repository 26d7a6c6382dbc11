"""`acp-tui check`: uses an agent as a client does, and reports which rules of the protocol it breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import anyio

from acp_tui.cli import ExitCode, code_of, weightiest
from acp_tui.cli.arguments import Args
from acp_tui.cli.command import UsageError
from acp_tui.cli.output import Clean, columns, make_cleaner, print_json, show_step, wrapped
from acp_tui.cli.prerequisites import command_of, settings_in_force
from acp_tui.cli.terminal import ready_to_run
from acp_tui.client.agents.command import sandboxes_of
from acp_tui.rpc import Direction
from acp_tui.workbench.check.examination import PROMPT, CheckPlan, CheckReport, Examination
from acp_tui.workbench.conformance import RULES, Finding, Rule, Severity
from acp_tui.workbench.conformance.rule import ARROWS

SHOWN_BREACHES: Final = 3
SHOWN_FRAMES: Final = 3
FRAME_CELLS: Final = 160
"""The width of a frame if the output isn't a terminal."""
HEADINGS: Final = {"error": "Errors", "warning": "Warnings", "note": "Notes"}


def run(args: Args) -> int:
    """Check the agent and print the report, or list the rules. Returns the exit status."""
    if args.rules:
        return _print_rules(args.format)
    if args.timeout <= 0:
        raise UsageError("--timeout needs more than 0 seconds")
    if args.agent is None:
        raise UsageError("check needs an agent: a name, or -- COMMAND")
    command = ready_to_run(command_of(args.agent))
    plan = CheckPlan(PROMPT if args.prompt is None else args.prompt, limit_s=args.timeout)
    clean, sandboxes = make_cleaner(command.env), sandboxes_of(settings_in_force().settings)
    examination = Examination(command, plan, args.record, lambda what: show_step(clean(what)), sandboxes)
    report, code = examination.report, ExitCode.DONE
    try:
        anyio.run(examination.run)
    except KeyboardInterrupt:
        report.left_out.append("the rest: you interrupted it")
        code = ExitCode.CANCELLED
    show_step("")
    broken = ExitCode.ERROR if report.has_errors else ExitCode.DONE
    code = weightiest({code, code_of(report.failure), broken})
    told = _told(report, code, clean)
    if args.format == "json":
        print_json("check", told)
    else:
        hint = report.failure.hint if report.failure is not None else ""
        print("\n".join(_as_text(told, map(clean, hint.splitlines()))))
    return code


def _print_rules(output_format: str) -> int:
    if output_format == "json":
        print_json("rules", list(map(_described, RULES.values())))
        return ExitCode.DONE
    for rule in RULES.values():
        print(f"{rule.rule_id:<11} {rule.severity.value:<8} {rule.sentence}")
    print(f"\n{wrapped('A- is a rule for agents, A2- one of version 2 of ACP alone.', '')}")
    return ExitCode.DONE


def _described(rule: Rule) -> dict[str, str]:
    return {
        "rule": rule.rule_id,
        "severity": rule.severity.value,
        "sentence": rule.sentence,
        "advice": rule.advice,
        "reference": rule.reference,
    }


def _told(report: CheckReport, code: ExitCode, clean: Clean) -> dict[str, Any]:
    """Return what either format tells, without secrets."""
    identity, failure = report.identity, report.failure
    return {
        "status": int(code),
        "agent": None if identity is None else {"name": clean(identity.name), "version": clean(identity.version)},
        "sandbox": report.sandbox,
        "failure": None if failure is None else clean(str(failure)),
        "last_words": [clean(line) for line in report.last_words],
        "left_out": [clean(each) for each in report.left_out],
        "looked_at": [rule_id for rule_id in RULES if rule_id in report.looked_at],
        "not_looked_at": [rule.rule_id for rule in report.not_looked_at],
        "findings": [
            {
                **_described(rule),
                "times": report.times[rule.rule_id],
                "breaches": [_breach(report, each, clean) for each in found[:SHOWN_BREACHES]],
            }
            for severity in Severity
            for rule, found in report.breaches(severity)
        ],
    }


def _breach(report: CheckReport, finding: Finding, clean: Clean) -> dict[str, Any]:
    frames = [(index, report.frames[index]) for index in finding.frames if index < len(report.frames)]
    begin = report.frames[0].at_s if report.frames else 0.0
    return {
        "text": clean(finding.text),
        "frames": [
            {
                "index": index,
                "direction": frame.direction.value,
                "at_s": round(frame.at_s - begin, 3),
                "text": clean(frame.raw.decode("utf-8", "replace")),
            }
            for index, frame in frames
        ],
    }


# Text


def _as_text(told: Mapping[str, Any], hints: Iterable[str]) -> Iterator[str]:
    if told["agent"] is not None:
        where = f" in the sandbox {told['sandbox']}" if told["sandbox"] else ""
        yield f"{told['agent']['name']} {told['agent']['version']}{where}\n"
    for severity, broken in groupby(told["findings"], itemgetter("severity")):
        yield HEADINGS[severity]
        for each in broken:
            yield from _of_rule(each)
            yield ""
    if told["failure"] is not None:
        yield wrapped(f"The check ended early: {told['failure']}", "")
        yield from (wrapped(line, "  ") for line in hints)
    if told["last_words"]:
        yield "Its last lines on stderr:"
        yield from (wrapped(line, "  ", "    ") for line in told["last_words"])
    yield from (wrapped(each, "Skipped: ", "         ") for each in told["left_out"])
    counts = Counter(each["severity"] for each in told["findings"])
    numbers = ", ".join(f"{counts[name]} {name}{'' if counts[name] == 1 else 's'}" for name in HEADINGS)
    unseen = told["not_looked_at"]
    yield wrapped(f"{numbers}. {len(RULES) - len(unseen)} of {len(RULES)} rules were checked.", "")
    if unseen:
        yield wrapped(f"Not checked, since they never applied: {' '.join(unseen)}", "")
        yield "For what each rule says: acp-tui check --rules"


def _of_rule(broken: Mapping[str, Any]) -> Iterator[str]:
    behind = " " * 14
    yield wrapped(broken["sentence"], f"  {broken['rule']:<11} ", behind)
    for breach in broken["breaches"]:
        yield wrapped(breach["text"], behind + "- ", behind + "  ")
        for frame in breach["frames"][-SHOWN_FRAMES:]:
            head = f"{behind}  {frame['index']} {ARROWS[Direction(frame['direction'])]} "
            room = max((columns() or len(head) + FRAME_CELLS) - len(head), 20)
            yield head + (frame["text"] if len(frame["text"]) < room else frame["text"][: room - 4] + "...")
    if broken["times"] > SHOWN_BREACHES:
        yield f"{behind}- and {broken['times'] - SHOWN_BREACHES} more like it"
    yield wrapped(broken["advice"], behind, behind)
    yield f"{behind}{broken['reference']}"
