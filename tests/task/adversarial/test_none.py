from ptcli.task.adversarial.none import NoAdversary

from ..batches import step_of


def test_nothing_is_added_and_nothing_repeated():
    step = step_of(adversarial=NoAdversary())
    assert step.second_pass is None
    assert step.objective.denominators == {"task": "scored"}
