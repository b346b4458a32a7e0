from ptcli.model.sharing.ffn_only import FeedForwardSharing


def test_one_ffn_many_attentions():
    assert FeedForwardSharing().plan(3) == [(0, 0), (1, 0), (2, 0)]
