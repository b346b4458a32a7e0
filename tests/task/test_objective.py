from functools import partial

import pytest
import torch
from torch.nn import functional as F

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.model.position.disentangled import DisentangledPositions
from ptcli.model.position.rotary import RotaryPositions
from ptcli.model.residual.pre import PreNorm
from ptcli.model.sharing.groups import GroupSharing
from ptcli.task.head.san import SanHead
from ptcli.task.head.tanh import TanhHead
from ptcli.task.pooling import AttentionPooling, MaxPooling, MeanPooling

from ..model.build import encoder
from .batches import TARGETS, alone, batch_of, step_of, without_labels

MODELS = {
    "bert": {},
    "pre-norm, rotary": {"position": {"rotary": RotaryPositions}, "residual": PreNorm},
    "disentangled": {"position": {"disentangled": partial(DisentangledPositions, max_distance=6)}},
    "shared, factorised": {"sharing": GroupSharing(num_groups=1, inner_group_num=1), "embedding_size": 8},
    "no segments": {"type_vocab_size": 0},
    "one segment": {"type_vocab_size": 1},
}


@pytest.mark.parametrize("target", TARGETS)
def test_packed_rows_give_what_one_example_a_row_gives(target):
    step = step_of(target).eval()
    packed, single = batch_of(target=target), alone(target=target)
    one, other = step.objective(step.model, packed), step.objective(step.model, single)
    torch.testing.assert_close(one.sums["task"], other.sums["task"], rtol=1e-5, atol=1e-5)
    assert one.counts == other.counts
    assert one.counts["task"] > 0
    assert one.correct == other.correct
    if target != "span":  # whose logits stand at places
        for name, values in step.objective.predict(step.model, packed).items():
            torch.testing.assert_close(values, step.objective.predict(step.model, single)[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("target", TARGETS)
def test_every_model_takes_every_target_and_every_parameter_learns(target, model):
    step = step_of(target, model=encoder(**MODELS[model]))
    batch = batch_of(target=target)
    total, loss = step(batch, {"scored": 6})
    total.backward()
    assert torch.isfinite(total)
    assert total.detach() == loss.sums["task"].detach() / 6
    assert [name for name, p in step.named_parameters() if p.grad is None] == []
    idle = [name for name, p in step.named_parameters() if not p.grad.any()]
    # what is added to all candidates changes nothing
    assert [name for name in idle if target not in ("choice", "rank", "span") or not name.endswith("bias")] == []


def test_class_loss_equals_cross_entropy_and_unlabelled_examples_do_not_count():
    step, batch = step_of(), without_labels(batch_of(), 1, 4)
    loss = step.objective(step.model, batch)
    logits = step.objective.predict(step.model, batch)["logits"]
    wanted = F.cross_entropy(logits, batch["example_labels"], ignore_index=IGNORE_INDEX, reduction="sum")
    torch.testing.assert_close(loss.sums["task"], wanted)
    assert loss.counts["task"] == 4
    assert loss.correct["task"] == (logits.argmax(-1) == batch["example_labels"]).sum()


def test_smoothing_and_weights_are_those_of_torch():
    weights = [0.5, 2.0, 1.0]
    step, batch = step_of(label_smoothing=0.2, class_weights=weights), batch_of()
    logits = step.objective.predict(step.model, batch)["logits"]
    wanted = F.cross_entropy(
        logits, batch["example_labels"], weight=torch.tensor(weights), label_smoothing=0.2, reduction="sum"
    )
    torch.testing.assert_close(step.objective(step.model, batch).sums["task"], wanted)
    assert "objective.loss.class_weights" not in step.state_dict()


@pytest.mark.parametrize("pooling", [MeanPooling, MaxPooling, AttentionPooling])
@pytest.mark.parametrize("target", ["class", "choice"])
def test_no_pooling_mixes_the_examples_of_a_row(pooling, target):
    step = step_of(target, pooling=pooling).eval()
    name = "logits" if target == "class" else "scores"
    one = step.objective.predict(step.model, batch_of(target=target))[name]
    torch.testing.assert_close(one, step.objective.predict(step.model, alone(target=target))[name])
    changed = batch_of(target=target)
    changed["input_ids"][0, :9] = 3  # the first example of the first row
    other = step.objective.predict(step.model, changed)[name]
    assert not torch.allclose(other[0], one[0])
    torch.testing.assert_close(other[1:], one[1:])


@pytest.mark.parametrize("head", [partial(TanhHead, dropout=0.0)])
@pytest.mark.parametrize("target", TARGETS)
def test_the_tanh_head_takes_every_target(head, target):
    step = step_of(target, head=head).eval()
    one = step.objective(step.model, batch_of(target=target))
    torch.testing.assert_close(one.sums["task"], step.objective(step.model, alone(target=target)).sums["task"])


def test_texts_encoded_apart_are_compared():
    step = step_of(apart=True).eval()
    batch = batch_of()
    batch["example_labels"] = batch["example_labels"][::2]
    vectors = step.model(batch).flatten(0, 1)[batch["example_positions"]]
    u, v = vectors[::2], vectors[1::2]
    features = torch.cat((u, v, (u - v).abs(), u * v), -1)
    logits = step.objective.predict(step.model, batch)["logits"]
    torch.testing.assert_close(logits, step.objective.head(features))
    assert step.objective(step.model, batch).counts["task"] == 3


def test_mixed_layers_begin_as_their_mean_and_learn():
    step = step_of(mix_layers=3)
    batch = batch_of()
    hidden = [step.model.embed(batch)]
    for layer in range(2):
        hidden.append(step.model.run(hidden[-1], step.model.contexts(batch), layers=range(layer, layer + 1)))
    torch.testing.assert_close(step.objective.mix(step.model, batch), torch.stack(hidden).mean(0))
    with torch.no_grad():
        step.objective.mix.weights[2] = 40.0
    torch.testing.assert_close(step.objective.mix(step.model, batch), step.model(batch))


def test_mixed_layers_of_a_model_that_ends_with_a_norm_are_normed():
    step = step_of(mix_layers=2, model=encoder(residual=PreNorm))
    with torch.no_grad():
        step.objective.mix.weights[1] = 40.0
    batch = batch_of()
    torch.testing.assert_close(step.objective.mix(step.model, batch), step.model(batch))


def test_a_second_segment_is_the_first_to_a_model_that_knows_one():
    step, batch = step_of(model=encoder(type_vocab_size=1)), batch_of()
    flat = batch | {"token_type_ids": torch.zeros_like(batch["token_type_ids"])}
    one, other = (step.objective.predict(step.model, each)["logits"] for each in (batch, flat))
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("target", "changes", "message"),
    [
        ("class", {"pooling": None}, r"task\.pooling=null leaves a head without a vector"),
        ("tokens", {"pooling": MeanPooling}, "looks at each of its tokens"),
        ("tokens", {"head": SanHead}, "looks at each of its tokens"),
        ("class", {"head": SanHead}, "pools the two texts of a row by itself"),
        ("value", {"head": SanHead, "pooling": None}, "gives probabilities of labels"),
        ("classes", {"head": SanHead, "pooling": None}, "gives probabilities of labels"),
        ("value", {"label_smoothing": 0.1}, r"task\.label_smoothing=0.1 is for labels"),
        ("span", {"class_weights": [1.0, 2.0]}, r"task\.class_weights=.* is for labels"),
        ("class", {"class_weights": [1.0, 2.0]}, "2 numbers, but the task has 3 labels"),
        ("class", {"class_weights": [1.0, 0.0, 1.0]}, "a number above 0"),
        ("class", {"label_smoothing": 1.0}, r"must lie in \[0, 1\)"),
        ("class", {"num_labels": 1}, "fewer than two"),
        ("class", {"mix_layers": 4}, "must lie between 2 and 3"),
        ("choice", {"apart": True}, r"task\.apart=true is for tasks on pairs"),
        ("class", {"r_drop": 1.0}, "nothing is dropped"),
        ("class", {"r_drop": 0.0}, "must be above 0"),
        ("class", {"head": partial(TanhHead, dropout=1.0)}, r"task\.head\.dropout=1.0"),
    ],
)
def test_what_does_not_go_together_is_refused(target, changes, message):
    with pytest.raises(ConfigError, match=message):
        step_of(target, **changes)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_learned_by_heart(target):
    step, batch = step_of(target, model=encoder(initializer_range=0.1)), batch_of(target=target)
    optimizer = torch.optim.Adam(step.parameters(), lr=3e-3)
    for _ in range(80):
        optimizer.zero_grad()
        total, loss = step(batch, {"scored": 1})
        total.backward()
        optimizer.step()
    assert loss.correct.get("task", loss.counts["task"]) == loss.counts["task"]
    assert loss.sums["task"] / loss.counts["task"] < 0.1


def test_a_step_of_several_micro_batches_is_that_of_one():
    step = step_of()
    whole = batch_of([[9], [4], [12], [6]])
    step(whole, {"scored": 4})[0].backward()
    wanted = {name: p.grad.clone() for name, p in step.named_parameters()}
    step.zero_grad()
    for rows in (slice(0, 1), slice(1, 4)):
        part = {name: tensor[rows] for name, tensor in whole.items()}
        part["example_positions"] = torch.arange(len(part["input_ids"])) * 12
        step(part, {"scored": 4})[0].backward()
    for name, parameter in step.named_parameters():
        torch.testing.assert_close(parameter.grad, wanted[name], rtol=1e-4, atol=1e-6, msg=name)
