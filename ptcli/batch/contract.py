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
"""

IGNORE_INDEX = -100
MEMBER = "member"
