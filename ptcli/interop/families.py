"""All families; a new one is a module of its own and an entry here."""

from ptcli.interop.albert import ALBERT
from ptcli.interop.bert import BERT, ELECTRA, ERNIE, ROBERTA
from ptcli.interop.deberta import DEBERTA, DEBERTA_V2
from ptcli.interop.family import Family
from ptcli.interop.modernbert import MODERNBERT
from ptcli.interop.roformer import ROFORMER

FAMILIES: tuple[Family, ...] = (BERT, ROBERTA, ELECTRA, ALBERT, ERNIE, MODERNBERT, DEBERTA, DEBERTA_V2, ROFORMER)


def family_of(model_type: str) -> Family | None:
    """The family of a config.json's model_type; None where ptcli knows none of this name."""
    return next((family for family in FAMILIES if family.model_type == model_type), None)
