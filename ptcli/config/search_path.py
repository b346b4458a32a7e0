"""Where Hydra looks for YAML whenever it composes: for a command, its sweep and what a command compares."""

import os

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin

from ptcli.config.outside import brought


class OwnFolders(SearchPathPlugin):
    """The folders that the command line brings, behind conf/, as Hydra's own --config-dir has them."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Called by Hydra each time it makes its search path."""
        for folder in brought().folders:
            search_path.append("own", f"file://{os.path.abspath(folder)}")
