"""The run-time check of jaxtyping signatures: an int is welcome where a float is asked for."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
