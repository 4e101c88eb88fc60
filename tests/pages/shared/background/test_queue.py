"""Test the queue: first come, first served, one of each visitor at a time, and turns after each step."""

import pytest

from pages.shared.background import sweep_status
from pages.shared.background.queue import ON_SCREEN, Line, Queue, Queued, Rank


def queue(places: int, *entries: Queued) -> Queue:
    made = Queue(dict.fromkeys(ON_SCREEN, 1) | {"short": places, "long": places})
    for entry in entries:
        made.add(entry)
    return made


def entry(visitor: str, line: Line = "short", rank: Rank = Rank.SHOWN) -> Queued:
    return Queued(visitor, line, lambda: line, rank)


def test_first_come_first_served():
    ann, bob, eve = map(entry, ("ann", "bob", "eve"))
    line = queue(1, ann, bob, eve)
    assert line.start_next("short") is ann and line.start_next("short") is None
    assert [line.position(waits) for waits in (ann, bob, eve)] == [(0, 0), (1, 0), (2, 0)]
    line.remove(ann)
    assert line.start_next("short") is bob and line.position(eve) == (1, 0)


def test_one_of_each_visitor_at_a_time():
    first, second, third, bob = (entry(who) for who in ("ann", "ann", "ann", "bob"))
    line = queue(2, first, second, third, bob)
    assert [line.start_next("short") for _ in range(3)] == [first, bob, None]
    assert [line.position(waits) for waits in (second, third)] == [(1, 1), (1, 2)]
    line.remove(bob)
    assert line.position(second) == (0, 1) and line.start_next("short") is None
    line.remove(first)
    assert line.start_next("short") is second


def test_one_that_was_told_to_stop_holds_up_nobody():
    """A slider moves on: the next sweep begins while the former finishes its task."""
    former, following = entry("ann"), entry("ann")
    line = queue(1, former, following)
    assert line.start_next("short") is former
    former.ending = True
    assert line.position(following) == (0, 0) and line.start_next("short") is following


def test_long_sweeps_have_a_line_of_their_own():
    hour, quick, later = entry("ann", "long"), entry("ann"), entry("bob", "long")
    line = queue(1, hour, quick, later)
    assert (line.start_next("long"), line.start_next("short")) == (hour, quick)
    assert line.position(later) == (1, 0)


def served(line: Queue, steps: int) -> list[tuple[str, Rank]]:
    """Return who has each of the next steps, where all always have more."""
    order = []
    for _ in range(steps):
        runs = line.start_next("screen")
        assert runs is not None
        order.append((runs.visitor, runs.rank))
        line.requeue(runs, "screen")
    return order


def test_visitors_take_turns_step_by_step():
    screens = [entry(who, "screen") for who in ("ann", "bob", "eve")]
    ahead = entry("bob", "screen", Rank.NEXT_PRESS)
    order = served(queue(1, *screens, ahead), 9)
    assert {who: [name for name, _ in order].count(who) for who in ("ann", "bob", "eve")} == dict.fromkeys(
        ("ann", "bob", "eve"), 3
    )
    assert {rank for who, rank in order if who == "bob"} == {Rank.NEXT_PRESS}


def test_nothing_idle_is_done_while_a_screen_lacks_something():
    idle, shown = entry("ann", "screen", Rank.WHEN_IDLE), entry("bob", "screen")
    line = queue(1, idle, shown)
    assert served(line, 3) == [("bob", Rank.SHOWN)] * 3
    line.remove(shown)
    assert served(line, 1) == [("ann", Rank.WHEN_IDLE)]


def test_whose_steps_are_long_has_fewer_of_them():
    """Within a factor of two of equal seconds; by steps the heavy visitor had 30 times as many seconds."""
    line, seconds = queue(1), {"heavy": 3.0, "ann": 0.1, "bob": 0.1}
    worked = dict.fromkeys(seconds, 0.0)
    for who in seconds:
        line.add(entry(who, "slow"))
    while sum(worked.values()) < 90:
        runs = line.start_next("slow")
        assert runs is not None
        line.charge(runs, seconds[runs.visitor])
        worked[runs.visitor] += seconds[runs.visitor]
        line.requeue(runs, "slow")
    assert max(worked.values()) < 2 * min(worked.values())


def test_a_first_answer_comes_before_more_of_what_others_see():
    ann, bob = entry("ann", "aside"), entry("bob", "aside")
    line = queue(1, ann, bob)
    bob.first = True
    line.charge(bob, 1.0)
    assert line.start_next("aside") is bob


def test_who_worked_long_on_more_waits_no_longer_for_a_first_answer():
    ann, bob = entry("ann", "aside"), entry("bob", "aside")
    line = queue(1, ann, bob)
    line.charge(ann, 100.0)
    ann.first = bob.first = True
    assert line.start_next("aside") is ann


def test_a_slow_step_of_a_former_view_holds_up_no_new_one():
    former, new = entry("bob", "slow"), entry("bob", "aside")
    line = queue(1, former)
    assert line.start_next("slow") is former
    line.replace(new)
    assert line.start_next("aside") is new
    line.requeue(former, "screen")  # its step has ended: nobody wants the next
    assert line.line("screen", "slow") == []


def test_a_new_view_takes_the_place_of_the_former():
    former, ann, new = entry("bob", "screen"), entry("ann", "screen"), entry("bob", "screen")
    line = queue(1, former, ann)
    line.replace(new)
    assert line.start_next("screen") is new
    assert len(line.line("screen")) == 2


def test_what_runs_is_not_dropped():
    runs, waits = entry("ann"), entry("bob")
    line = queue(1, runs, waits)
    line.start_next("short")
    assert line.drop(lambda _: True) == [waits] and line.line("short") == [runs]


@pytest.mark.parametrize(
    ("ahead", "sentence"),
    [
        ((0, 0), "Waiting to begin"),
        ((1, 0), "In the queue behind 1 sweep of other visitors"),
        ((2, 0), "In the queue behind 2 sweeps of other visitors"),
        ((0, 1), "In the queue behind 1 sweep of your own"),
        ((2, 1), "In the queue behind 2 sweeps of other visitors and 1 sweep of your own"),
    ],
    ids=str,
)
def test_the_place_in_the_queue_is_said(ahead, sentence):
    assert sweep_status.queue(*ahead) == sentence
