"""Test that what two threads need of plans at once is evaluated once."""

import threading

from dppca_core.experiments.planning.evaluations import Evaluations


def test_a_thread_waits_for_what_another_is_evaluating():
    store, begun, may_end, calls = Evaluations(), threading.Event(), threading.Event(), []

    def slow(value):
        calls.append(value)
        begun.set()
        assert may_end.wait(30)
        return 2 * value

    answers = []
    both = [threading.Thread(target=lambda: answers.append(store.cell(slow, 3))) for _ in range(2)]
    both[0].start()
    assert begun.wait(30)
    both[1].start()
    both[1].join(0.1)  # it would have called the function by now
    assert both[1].is_alive()
    may_end.set()
    for thread in both:
        thread.join(30)
    assert answers == [6, 6] and calls == [3] and not store._evaluating
