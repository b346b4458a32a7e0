from ptcli.model.sharing.none import NoSharing


def test_every_layer_is_its_own():
    assert NoSharing().plan(3) == [(0, 0), (1, 1), (2, 2)]
