from ptcli.errors import ConfigError


class GroupSharing:
    """Runs of layers share all weights ("ALBERT", arXiv:1909.11942): group g serves num_layers / num_groups layers.

    A group may hold several different layers, `inner_group_num`, which run one after another each time: the model then
    runs num_layers * inner_group_num layers.
    """

    def __init__(self, *, num_groups: int = 1, inner_group_num: int = 1):
        for name, value in (("num_groups", num_groups), ("inner_group_num", inner_group_num)):
            if value < 1:
                raise ConfigError(f"model.sharing.{name}={value} must be at least 1.")
        self.num_groups = num_groups
        self.inner_group_num = inner_group_num

    def plan(self, num_layers: int) -> list[tuple[int, int]]:
        """For each layer that runs, in order: the numbers of its attention and of its feed-forward network."""
        if num_layers % self.num_groups:
            choices = ", ".join(str(n) for n in range(1, num_layers + 1) if num_layers % n == 0)
            raise ConfigError(
                f"model.sharing.num_groups={self.num_groups} does not divide model.num_layers={num_layers}, and groups "
                f"are of one size. Use one of {choices}."
            )
        numbers = [
            layer * self.num_groups // num_layers * self.inner_group_num + inner
            for layer in range(num_layers)
            for inner in range(self.inner_group_num)
        ]
        return [(number, number) for number in numbers]
