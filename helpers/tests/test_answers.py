"""`check_answers`: what passes, what fails, and what it says."""

from helpers import check_answers

import pytest

CASES = [((2, 3), 5), ((1.0, 2.0), 3.0)]


def plus(a, b):
    return a + b


def test_right_answers_pass():
    assert str(check_answers(plus, CASES)) == "plus: passed"


def test_a_wrong_answer_is_shown_beside_the_right_one():
    def minus(a, b):
        return a - b

    assert str(check_answers(minus, CASES)) == "minus: failed\nminus(2, 3) gave -1; the answer is 5."


def test_a_stub_is_not_attempted():
    def stub(a, b):
        raise NotImplementedError()

    assert str(check_answers(stub, CASES)) == "stub: not attempted yet"


def test_an_error_is_a_failure():
    def broken(a, b):
        return a / 0

    found = check_answers(broken, CASES)
    assert not found.passed and "broken(2, 3) raised ZeroDivisionError" in str(found)


def test_a_float_may_be_a_little_off_and_a_type_may_not():
    assert check_answers(lambda: 1.0 + 1e-9, [((), 1.0)]).passed
    assert not check_answers(lambda: 1.001, [((), 1.0)]).passed
    assert check_answers(lambda: 1.001, [((), 1.0)], within=0.01).passed
    assert not check_answers(lambda: "1", [((), 1)]).passed


def test_no_cases_is_an_error():
    with pytest.raises(ValueError, match="cases"):
        check_answers(plus, [])
