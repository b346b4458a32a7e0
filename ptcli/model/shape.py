"""The sizes that the slots of a model are built from."""

from dataclasses import dataclass

from ptcli.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of one model, checked. `embedding_size`: width of the embeddings; `hidden_size`: width of the layers."""

    vocab_size: int
    num_layers: int
    hidden_size: int
    num_heads: int
    intermediate_size: int
    embedding_size: int

    def __post_init__(self):
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise ConfigError(f"model.{name}={getattr(self, name)} must be at least 1.")
        if self.hidden_size % self.num_heads:
            heads = [n for n in range(1, self.hidden_size + 1) if self.hidden_size % n == 0]
            nearest = min(heads, key=lambda n: abs(n - self.num_heads))
            raise ConfigError(
                f"model.num_heads={self.num_heads} does not divide model.hidden_size={self.hidden_size}, and each head "
                f"takes an equal share. Use model.num_heads={nearest}, or another hidden_size."
            )

    @property
    def head_size(self) -> int:
        """Width of one attention head."""
        return self.hidden_size // self.num_heads
