"""The batch: a dict of tensors, these keys, these shapes. B rows, S positions.

input_ids       int64 (B, S)   pad_token_id where there is nothing
attention_mask  int64 (B, S)   1 at real tokens, 0 at padding
token_type_ids  int64 (B, S)   segment ids
position_ids    int64 (B, S)   from 0 in each example
sequence_ids    int64 (B, S)   which example of the row a position belongs to, from 1; 0 is padding. A packing that
                               does not isolate its documents gives a row one id
labels          int64 (B, S)   original ids at scored positions, IGNORE_INDEX elsewhere
pair_labels     int64 (B, S)   the pair's label at each example's classification position, IGNORE_INDEX elsewhere
label_positions int64 (N,)     where labels are scored, as indices into the flattened (B * S), ascending
pair_positions  int64 (M,)     where pair_labels are scored, likewise
member          uint8 (0, m)   only where several objectives take turns: it is of number m, which a shape says without
                               waiting for the device

`labels` and `pair_labels` are columns like any other (`Column`): a noise adds further ones, each with its positions.
"""

from dataclasses import dataclass

IGNORE_INDEX = -100
MEMBER = "member"

KINDS = ("token", "example", "position", "value")


@dataclass(frozen=True, slots=True)
class Column:
    """An array that a part adds to the batch. What lays out, counts, draws and measures it works from this alone.

    `kind` says what it is made of before rows are laid out, and what it becomes:
    `token`: a value for each position of the examples, (N,); laid out as (B, S) with `fill` at padding.
    `example`: a value for each example, (E,); laid out as (B, S), at the example's classification position.
    `position`: places in the flat examples, (n,) or (n, k); they become indices into the flattened (B * S).
    `value`: what goes with each place of a `position` column, (n,) or (n, k); it stays as it is.

    Of the first two kinds, entries other than `fill` are scored: the batch also has their places, int64 ascending, as
    `positions`, and a step counts them under `name`. Of a `position` column, each entry counts.
    `classes`: how many different values there are, None for those of the vocabulary; `names`: what they are called.
    """

    name: str
    kind: str = "token"
    fill: int = IGNORE_INDEX
    dtype: str = "int64"
    positions: str = ""
    classes: int | None = None
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.kind in KINDS, f"{self.name}: a column is one of {', '.join(KINDS)}"
        if not self.positions:
            object.__setattr__(self, "positions", f"{self.name.removesuffix('_labels')}_positions")


LABELS = Column("labels", positions="label_positions")
PAIR_LABELS = Column("pair_labels", kind="example")
