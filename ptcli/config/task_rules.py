"""The rules between a task and what is put on a model for it: as those of ptcli/config/rules.py."""

from ptcli.config.facts import Facts
from ptcli.config.rules import Rule
from ptcli.config.several_tasks import JOINT


def comparing_head_needs_two_texts(facts: Facts) -> str | None:
    """A head that compares the two texts of a row needs rows that have two, and one label."""
    task, head = facts.one("task"), facts.one("task/head")
    if not task or not head or not head.fact("reads_states", False):
        return None
    if task.fact("num_texts") == 2 and task.fact("target") == "class":
        return None
    why = "has rows of one text" if task.fact("target") == "class" else "does not ask for one of several labels"
    return (
        f"{head.typed} compares two texts and says which label they have, but {task.typed} {why}. "
        "Use task/head=linear, or task=pair_classification."
    )


def comparing_head_takes_no_pooling(facts: Facts) -> str | None:
    """A head that reads all states makes its own vectors of them."""
    head, pooling = facts.one("task/head"), facts.one("task/pooling")
    if not head or not head.fact("reads_states", False):
        return None
    if pooling:
        return (
            f"{head.typed} pools the two texts of a row by itself, so {pooling.typed} would do nothing. "
            "Use task.pooling=null, or task/head=linear."
        )
    if facts.value("task.apart"):
        return (
            f"{head.typed} compares texts that are read together, but task.apart=true reads them apart. "
            "Use task.apart=false, or task/head=linear."
        )
    return None


def moving_embeddings_need_a_gradient(facts: Facts) -> str | None:
    """Token vectors that are moved along their gradient must have one."""
    adversary = facts.one("task/adversarial")
    if not adversary or not adversary.fact("follows_gradient", False) or not facts.value("task.freeze_embeddings"):
        return None
    return (
        f"{adversary.typed} moves token vectors along their gradient, but task.freeze_embeddings=true gives them none. "
        "Use task.freeze_embeddings=false, or task/adversarial=smart."
    )


def parts_of_weights_go_through_once(facts: Facts) -> str | None:
    """Where each rank keeps a part of the weights, a layer is gathered for one pass of a step, and moved by none."""
    if facts.value("trainer.strategy") != "fsdp":
        return None
    adversary, r_drop = facts.one("task/adversarial"), facts.value("task.r_drop")
    if r_drop is not None:
        typed, choose = f"task.r_drop={r_drop}", "task.r_drop=null"
    elif adversary and adversary.name != "none":
        typed, choose = adversary.typed, "task/adversarial=none"
    else:
        return None
    return (
        f"{typed} sends each row through the model more than once, but trainer.strategy=fsdp gathers a layer's weights "
        f"for one pass. Use trainer.strategy=ddp, or {choose}."
    )


def folds_are_of_one_task(facts: Facts) -> str | None:
    """Parts of the training rows that one model has not seen are no parts of several tasks' rows."""
    task, folds = facts.one("task"), facts.value("folds")
    if not task or task.name != JOINT or folds is None:
        return None
    return (
        f"folds={folds} divides the rows of one task, but several are given. "
        "Use folds=null, or type a command for each task."
    )


TASK_RULES: tuple[Rule, ...] = (
    comparing_head_needs_two_texts,
    comparing_head_takes_no_pooling,
    moving_embeddings_need_a_gradient,
    parts_of_weights_go_through_once,
    folds_are_of_one_task,
)
