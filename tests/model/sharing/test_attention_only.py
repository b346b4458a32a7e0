from ptcli.model.sharing.attention_only import AttentionSharing


def test_one_attention_many_ffns():
    assert AttentionSharing().plan(3) == [(0, 0), (0, 1), (0, 2)]
