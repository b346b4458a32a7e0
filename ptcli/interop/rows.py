"""Made-up rows on which two forms of a model are compared."""

import torch
from torch import Tensor


def random_rows(
    num_rows: int, length: int, *, vocab_size: int, num_types: int, pad_token_id: int = 0, seed: int = 0
) -> dict[str, Tensor]:
    """input_ids, attention_mask and token_type_ids (B, S): random ids, each row but the first somewhat padded.

    The padding token stands at padding only: some models find padding by it.
    """
    generator = torch.Generator().manual_seed(seed)
    input_ids = torch.randint(1, vocab_size, (num_rows, length), generator=generator)
    input_ids = (input_ids + pad_token_id) % vocab_size
    lengths = torch.tensor([max(1, length - 2 * row) for row in range(num_rows)])
    attention_mask = (torch.arange(length) < lengths[:, None]).long()
    input_ids = input_ids.masked_fill(attention_mask == 0, pad_token_id)
    second = (torch.arange(length) >= length // 2).long() if num_types > 1 else torch.zeros(length, dtype=torch.long)
    return {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "token_type_ids": second * attention_mask,
    }


def relative_error(found: Tensor, expected: Tensor) -> float:
    """The largest difference, as a share of the largest expected value."""
    assert found.shape == expected.shape
    found, expected = found.detach(), expected.detach()
    return float((found - expected).abs().max() / expected.abs().max().clamp_min(1e-30))
