"""`acp-tui check`: uses an agent as a client does, and reports which rules of the protocol it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import anyio

from acp_tui.cli import ExitCode, code_of, weightiest
from acp_tui.cli.arguments import Args
from acp_tui.cli.command import UsageError
from acp_tui.cli.output import Clean, columns, make_cleaner, print_json, show_step, wrapped
from acp_tui.cli.prerequisites import command_of, settings_in_force
from acp_tui.cli.terminal import ready_to_run
from acp_tui.client.agents.command import sandboxes_of
from acp_tui.workbench.check.examination import PROMPT, CheckPlan, CheckReport, Examination
from acp_tui.workbench.conformance import RULES, Finding, Rule, Severity
from acp_tui.workbench.conformance.rule import ARROWS

SHOWN_BREACHES: Final = 3
SHOWN_FRAMES: Final = 3
FRAME_CELLS: Final = 160
"""The width of a frame if the output isn't a terminal."""
HEADINGS: Final = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.NOTE: "Notes"}


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
    if args.format == "json":
        print_json("check", _as_json(report, code, clean))
    else:
        print("\n".join(_as_text(report, clean)))
    return code


def _print_rules(output_format: str) -> int:
    if output_format == "json":
        print_json("rules", list(map(_described, RULES.values())))
        return ExitCode.DONE
    for rule in RULES.values():
        print(f"{rule.rule_id:<11} {rule.severity.value:<8} {rule.sentence}")
    print(f"\n{wrapped('A- is a rule for agents, A2- one of version 2 of ACP alone.', '')}")
    return ExitCode.DONE


# JSON


def _described(rule: Rule) -> dict[str, str]:
    return {
        "rule": rule.rule_id,
        "severity": rule.severity.value,
        "sentence": rule.sentence,
        "advice": rule.advice,
        "reference": rule.reference,
    }


def _as_json(report: CheckReport, code: ExitCode, clean: Clean) -> dict[str, Any]:
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


def _as_text(report: CheckReport, clean: Clean) -> Iterator[str]:
    if report.identity is not None:
        where = f" in the sandbox {report.sandbox}" if report.sandbox else ""
        yield f"{clean(report.identity.name)} {clean(report.identity.version)}{where}"
        yield ""
    for severity in Severity:
        broken = list(report.breaches(severity))
        if broken:
            yield HEADINGS[severity]
        for rule, found in broken:
            yield from _of_rule(report, rule, found, clean)
            yield ""
    if report.failure is not None:
        yield wrapped(f"The check ended early: {clean(str(report.failure))}", "")
        yield from (wrapped(clean(line), "  ") for line in report.failure.hint.splitlines())
    if report.last_words:
        yield "Its last lines on stderr:"
        yield from (wrapped(clean(line), "  ", "    ") for line in report.last_words)
    yield from (wrapped(clean(each), "Skipped: ", "         ") for each in report.left_out)
    yield from _summary(report)


def _of_rule(report: CheckReport, rule: Rule, found: list[Finding], clean: Clean) -> Iterator[str]:
    behind = " " * 14
    yield wrapped(rule.sentence, f"  {rule.rule_id:<11} ", behind)
    for finding in found[:SHOWN_BREACHES]:
        yield wrapped(clean(finding.text), behind + "- ", behind + "  ")
        yield from _frames(report, finding, behind + "  ", clean)
    more = report.times[rule.rule_id] - SHOWN_BREACHES
    if more > 0:
        yield f"{behind}- and {more} more like it"
    yield wrapped(rule.advice, behind, behind)
    yield f"{behind}{rule.reference}"


def _frames(report: CheckReport, finding: Finding, before: str, clean: Clean) -> Iterator[str]:
    for index in finding.frames[-SHOWN_FRAMES:]:
        if index < len(report.frames):
            frame = report.frames[index]
            head = f"{before}{index} {ARROWS[frame.direction]} "
            text = clean(frame.raw.decode("utf-8", "replace"))
            room = max((columns() or len(head) + FRAME_CELLS) - len(head), 20)
            yield head + (text if len(text) < room else text[: room - 4] + "...")


def _summary(report: CheckReport) -> Iterator[str]:
    counts = {severity: sum(1 for _ in report.breaches(severity)) for severity in Severity}
    broken = ", ".join(f"{number} {severity.value}{'' if number == 1 else 's'}" for severity, number in counts.items())
    unseen = report.not_looked_at
    yield wrapped(f"{broken}. {len(RULES) - len(unseen)} of {len(RULES)} rules were checked.", "")
    if unseen:
        names = " ".join(rule.rule_id for rule in unseen)
        yield wrapped(f"Not checked, since they never applied: {names}", "")
        yield "For what each rule says: acp-tui check --rules"
