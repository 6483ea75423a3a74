"""`check_answers`: what passes, what fails, and what it says."""

from helpers import check_answers

import pytest

CASES = [((2, 3), 5), ((1.0, 2.0), 3.0)]


def plus(a, b):
    return a + b


def minus(a, b):
    return a - b


def stub(a, b):
    raise NotImplementedError()


def broken(a, b):
    return a / 0


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (plus, "plus: passed"),
        (minus, "minus: failed\nminus(2, 3) gave -1; the answer is 5."),
        (stub, "stub: not attempted yet"),
        (broken, "broken: failed\nbroken(2, 3) raised ZeroDivisionError"),
    ],
)
def test_what_is_said_of_answers(function, says):
    found = check_answers(function, CASES)
    assert str(found).startswith(says) and found.passed == (function is plus)
    assert str(found) == says or function is broken


def test_a_float_may_be_a_little_off_and_a_type_may_not():
    assert check_answers(lambda: 1.0 + 1e-9, [((), 1.0)]).passed
    assert not check_answers(lambda: 1.001, [((), 1.0)]).passed
    assert check_answers(lambda: 1.001, [((), 1.0)], within=0.01).passed
    assert not check_answers(lambda: "1", [((), 1)]).passed


def test_no_cases_is_an_error():
    with pytest.raises(ValueError, match="cases"):
        check_answers(plus, [])
