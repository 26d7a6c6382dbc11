"""How much a terminal may be sent, by how long its answers take: played on a simulated connection."""

import heapq
import math

import pytest

from acp_tui.ui.textual_gaps.flow_control import AHEAD_S, LOST_S, SHORT, SHORT_DELAYS, FlowControl

FIRST_FRAME = 8_000
FRAME = 2_000
FRAME_S = 0.025
RETRY_S = 0.01
START = 200
"""What is sent before the first frame."""


class Connection:
    """A terminal that takes this many characters per second, and whose answers need this long for the way."""

    def __init__(self, speed: float, way_s: float, *, answers: bool = True) -> None:
        self.flow = FlowControl()
        self.speed, self.way_s, self._answers = speed, way_s, answers
        self.now_s = 0.0
        self._empty_at_s = 0.0
        self._coming: list[float] = []
        self.send(START)
        self.ask()

    @property
    def waiting_s(self) -> float:
        """How long a key's echo would wait behind what was sent."""
        return max(0.0, self._empty_at_s - self.now_s)

    def send(self, length: float) -> None:
        self.flow.note_sent(int(length))
        self.flow.note_written(int(length))
        self._empty_at_s = self.now_s + self.waiting_s + int(length) / self.speed

    def ask(self) -> None:
        self.flow.note_asked(self.now_s)
        if self._answers:
            heapq.heappush(self._coming, self.now_s + self.waiting_s + self.way_s)

    def pause(self, seconds: float) -> None:
        """From now on, nothing is taken for so long."""
        self._empty_at_s = self.now_s + self.waiting_s + seconds

    def lose_answers(self) -> None:
        """From now on, something else reads them."""
        self._answers = False

    def pass_time(self, seconds: float) -> None:
        end_s = self.now_s + seconds
        while self._coming and self._coming[0] <= end_s:
            self.now_s = heapq.heappop(self._coming)
            self.flow.note_answered(self.now_s)
        self.now_s = end_s

    def stream(self, seconds: float) -> tuple[int, float]:
        """Stream frames, as much of each as fits. Return how much was sent, and the longest wait for an echo."""
        end_s, sent, longest_s = self.now_s + seconds, self.flow.sent, 0.0
        while self.now_s < end_s:
            left, frame_end_s = FRAME, self.now_s + FRAME_S
            while left and (self.now_s < frame_end_s or left == FRAME) and self.now_s < end_s:
                if self.flow.has_room(self.now_s, is_small=False):
                    part = min(left, max(400, self.flow.room(self.now_s)))
                    self.send(part)
                    left -= int(part)
                    self.ask()
                longest_s = max(longest_s, self.waiting_s)
                self.pass_time(RETRY_S)
            self.pass_time(max(0.0, frame_end_s - self.now_s))
        return self.flow.sent - sent, longest_s


def measured(connection: Connection) -> Connection:
    """The same, after a first frame."""
    connection.pass_time(connection.way_s + 1)
    connection.send(FIRST_FRAME)
    connection.ask()
    connection.pass_time(connection.way_s + FIRST_FRAME / connection.speed)
    return connection


def test_answers_that_come_close_together_do_not_make_a_connection_seem_quicker() -> None:
    """Echoes are sent before earlier answers have come, so what seems to be on its way has arrived by then."""
    connection = measured(Connection(20_000, 0.06))
    connection.send(FIRST_FRAME)
    connection.ask()
    for _ in range(6):
        connection.pass_time(0.06)
        connection.send(SHORT)
        connection.ask()
    connection.pass_time(2)
    assert connection.flow.room(connection.now_s) < 1.5 * connection.speed * (connection.way_s + AHEAD_S)


@pytest.mark.parametrize("way_s", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize(("speed", "limit_s"), [(5_000, 0.4), (10_000, 0.3), (20_000, 0.2), (50_000, 0.2)])
def test_over_a_slow_connection_an_echo_never_waits_long_and_no_time_is_wasted(
    speed: int, limit_s: float, way_s: float
) -> None:
    connection = measured(Connection(speed, way_s))
    _, longest_s = connection.stream(5)
    assert longest_s < limit_s
    sent, longest_s = connection.stream(20)
    assert longest_s < limit_s
    assert sent > 0.9 * 20 * speed


@pytest.mark.parametrize("way_s", [0.0, 0.02, 0.1, 0.3])
def test_over_a_quick_connection_nothing_is_held_back(way_s: float) -> None:
    connection = measured(Connection(1_000_000, way_s))
    connection.stream(5)
    sent, _ = connection.stream(20)
    assert sent > 0.99 * 20 / FRAME_S * FRAME


def test_a_terminal_that_does_not_answer_gets_everything() -> None:
    connection = Connection(1_000, 0.0, answers=False)
    sent, _ = connection.stream(5)
    assert sent > 0.99 * 5 / FRAME_S * FRAME


def test_a_connection_that_becomes_slower_is_noticed_at_once() -> None:
    connection = measured(Connection(1_000_000, 0.05))
    connection.stream(5)
    connection.speed = 20_000
    _, longest_s = connection.stream(1)
    assert longest_s < 1
    sent, longest_s = connection.stream(20)
    assert longest_s < 0.2
    assert sent > 0.9 * 20 * connection.speed


def test_a_pause_of_the_terminal_is_forgotten_soon() -> None:
    connection = measured(Connection(1_000_000, 0.001))
    connection.send(FRAME)
    connection.pause(3)
    connection.ask()
    connection.pass_time(3)
    connection.stream(1)
    sent, _ = connection.stream(5)
    assert sent > 0.99 * 5 / FRAME_S * FRAME


def test_a_longer_way_is_not_a_slower_connection() -> None:
    connection = measured(Connection(1_000_000, 0.01))
    connection.stream(5)
    connection.way_s = 0.3
    connection.stream(20)
    for _ in range(SHORT_DELAYS):  # keys and their echoes
        connection.pass_time(1)
        connection.send(SHORT)
        connection.ask()
    connection.stream(5)
    sent, _ = connection.stream(5)
    assert sent > 0.99 * 5 / FRAME_S * FRAME


def test_answers_that_something_else_has_read_are_given_up() -> None:
    connection = measured(Connection(1_000_000, 0.01))
    connection.lose_answers()
    connection.send(FRAME)
    connection.ask()
    connection.pass_time(1)
    assert connection.flow.room(connection.now_s) == 0
    connection.pass_time(LOST_S)
    assert connection.flow.room(connection.now_s) == math.inf


def test_what_is_sent_between_frames_holds_nothing_back_for_good() -> None:
    connection = measured(Connection(20_000, 0.0))
    connection.send(100_000)  # a picture, after which nothing was asked
    assert connection.flow.has_room(connection.now_s, is_small=False)


def test_nothing_is_sent_while_the_writer_has_something_left() -> None:
    flow = FlowControl()
    flow.note_sent(FRAME)
    assert not flow.has_room(0.0, is_small=True)
    flow.note_written(FRAME)
    assert flow.has_room(0.0, is_small=True)


def test_an_echo_does_not_wait_for_an_answer() -> None:
    connection = measured(Connection(20_000, 0.0))
    connection.send(FRAME)
    connection.ask()
    assert not connection.flow.has_room(connection.now_s, is_small=False)
    assert connection.flow.has_room(connection.now_s, is_small=True)


@pytest.mark.parametrize(("way_s", "expected_s"), [(0.01, 0.5), (0.4, 0.8), (60.0, 3.0)])
def test_the_end_waits_for_an_answer_as_long_as_this_terminal_may_need(way_s: float, expected_s: float) -> None:
    connection = Connection(1e6, way_s)
    assert connection.flow.last_answer_s == 0.5
    connection.pass_time(2 * way_s)
    assert connection.flow.last_answer_s == pytest.approx(expected_s, rel=0.01)
