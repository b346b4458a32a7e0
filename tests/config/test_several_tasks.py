"""task=[a,b]: what is typed becomes a node for each task; what cannot be meant is refused in words."""

import pytest
from omegaconf import OmegaConf

from ptcli.command_line.quoting import Words
from ptcli.config.compose import compose
from ptcli.config.fit import check
from ptcli.config.identity import fingerprint, run_name
from ptcli.config.outside import Outside, bring
from ptcli.config.several_tasks import choices_of_member, members_of, told_of, typed_task, with_keys_of
from ptcli.errors import ConfigError, DataError


def composed(*words, root="finetune"):
    return compose(root, ["checkpoint=somewhere", *words] if root == "finetune" else list(words))


@pytest.mark.parametrize("root", ["finetune", "pretrain"])
def test_each_task_has_a_node_of_its_own(root):
    found = composed("task=[rte,stsb]", "task.members.stsb.path=a b", root=root)
    members = found.config.task.members
    assert list(members) == ["rte", "stsb"]
    assert members.rte.subset == "rte"
    assert (members.stsb.path, members.rte.path) == ("a b", None)
    assert members_of(found.choices) == {"rte": "rte", "stsb": "stsb"}


def test_names_of_their_own_let_a_choice_stand_twice():
    found = composed("task=[ reviews:classification, notes:classification ]", "task.members.notes.path=x(1)#.tsv")
    assert found.config.task.members.notes.path == "x(1)#.tsv"
    assert found.config.task.members.reviews.path is None
    assert typed_task(found.choices) == "[notes:classification,reviews:classification]"


def test_a_part_of_one_task_is_typed_with_a_slash():
    config = composed("task=[rte,stsb]", "task.members.rte/pooling=mean", "task.members.rte.head.dropout=0.3").config
    assert config.task.members.rte.pooling._target_.endswith("MeanPooling")
    assert config.task.members.stsb.pooling._target_.endswith("PooledToken")
    assert config.task.members.rte.head.dropout == 0.3
    assert composed("task=[rte,stsb]", "task.members.rte.pooling=null").config.task.members.rte.pooling is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["task=[rte]"], "one task is typed without brackets. Write task=rte"),
        (["task=[x:rte]"], "Write task=rte"),
        (["task=[]"], "a task is missing"),
        (["task=[rte,]"], "a task is missing"),
        (["task=[rte,stsb"], "are written task="),
        (["task=[rte,rte]"], r"rte is there twice.*task=\[first:rte,second:rte\]"),
        (["task=[a:rte,a:stsb]"], r"a is there twice.*task=\[first:rte,second:stsb\]"),
        (["task=[rte,stbs]"], "there is no task stbs. Did you mean stsb"),
        (["task=[rte,multi]"], "there is no task multi"),
        (["task=[1:rte,stsb]"], "'1' is no name for a task"),
        (["task=[a/b:rte,stsb]"], "'a/b' is no name for a task"),
        (["task=[model:rte,stsb]"], r"my_model:rte"),
        (["task=multi"], "which tasks"),
        (["task=[rte,stsb]", "task.path=x"], r"of which task\? Write task.members.rte.path=x"),
        (["task=[rte,stsb]", "task/head=san"], r"of which task\? Write task.members.rte/head=san"),
        (["task=[rte,stsb]", "task.members.rte.head=san"], "Write task.members.rte/head=san"),
        (["task=[rte,stsb]", "task.members.rte.pth=x"], "Did you mean task.members.rte.path"),
        (["task=[rte,stsb]", "task.members.mnli.path=x"], "there is no key task.members.mnli"),
        (["task=[rte,stsb]", "task.freeze_layer=2"], "Did you mean task.freeze_layers"),
    ],
)
def test_wrong_spellings_are_refused_in_words(words, message):
    with pytest.raises(ConfigError, match=message):
        composed(*words)


def test_sets_of_tasks_are_not_swept():
    with pytest.raises(ConfigError, match="type one command for each"):
        Words(["-m", "task=[rte,stsb],[rte,sst2]"], root="finetune")
    words = Words(["-m", "task=[rte,stsb]", "seed=1,2"], root="finetune")
    assert words.overrides == ["task=multi", "+task@task.members.rte=rte", "+task@task.members.stsb=stsb", "seed=1,2"]
    assert words.typed[0] == "task=[rte,stsb]"


def test_a_task_of_the_users_own_folder_may_be_one_of_them(tmp_path):
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "my_own.yaml").write_text("defaults: [sst2, _self_]\n")
    with bring(Outside((str(tmp_path),))):
        words = Words(["--config-dir", str(tmp_path), "task=[my_own,stsb]"], root="finetune")
    assert words.overrides == ["task=multi", "+task@task.members.my_own=my_own", "+task@task.members.stsb=stsb"]
    with pytest.raises(ConfigError, match="there is no task my_own"):
        Words(["task=[my_own,stsb]"], root="finetune")


def test_a_root_without_the_group_is_left_alone():
    with pytest.raises(ConfigError, match="not a list"):
        Words(["task=[rte,stsb]"], root="evaluate")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["folds=3"], "folds=3 divides the rows of one task"),
        (
            ["task.members.stsb/head=san", "task.members.stsb.pooling=null"],
            "stsb: task.members.stsb/head=san compares",
        ),
        (["task.members.rte/head=san"], "Use task.members.rte.pooling=null"),
        (["task.pretraining=yes"], "task.pretraining"),
        (["task.members.rte.label_smoothing=much"], "task.members.rte.label_smoothing"),
    ],
)
def test_the_nets_hold_for_each_task(words, message):
    found = composed("task=[rte,stsb]", *words)
    with pytest.raises(ConfigError, match=message):
        check(found.config, found.choices, command="finetune")


def test_a_head_that_one_task_may_have_is_not_refused_for_the_other():
    found = composed("task=[rte,stsb]", "task.members.rte/head=san", "task.members.rte.pooling=null")
    check(found.config, found.choices, command="finetune")


def test_choices_of_a_member_are_as_if_it_were_alone():
    found = composed("task=[a:rte,stsb]", "task.members.a/head=tanh").choices
    assert choices_of_member(found, "a")["task"] == "rte"
    assert choices_of_member(found, "a")["task/head"] == "tanh"
    assert choices_of_member(found, "stsb")["task/head"] == "linear"
    assert choices_of_member(found, "a")["schedule"] == found["schedule"]


def test_a_run_is_named_by_its_tasks_in_whatever_order():
    one, other = composed("task=[stsb,rte]"), composed("task=[rte,stsb]")
    assert run_name(one.config, one.choices) == run_name(other.config, other.choices)
    assert run_name(one.config, one.choices) == f"rte-stsb-{fingerprint(one.config)[:8]}"
    assert OmegaConf.to_container(one.config.task) == OmegaConf.to_container(other.config.task)


def test_messages_about_a_task_have_its_own_keys():
    text = "Name it: task.label=COLUMN, or task/head=linear. See task=rte and task.members.b.path."
    expected = (
        "Name it: task.members.a.label=COLUMN, or task.members.a/head=linear. See task=rte and task.members.b.path."
    )
    assert with_keys_of("a", text) == expected
    with pytest.raises(DataError, match=r"^a: no task\.members\.a\.label$"), told_of("a"):
        raise DataError("no task.label")
