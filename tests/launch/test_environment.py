import pytest

from ptcli.launch.environment import first_host, is_one_of_several, translate_slurm

SRUN = {
    "SLURM_PROCID": "5",
    "SLURM_STEP_NUM_TASKS": "7",
    "SLURM_LOCALID": "1",
    "SLURM_NODEID": "2",
    "SLURM_STEP_TASKS_PER_NODE": "2(x3),1",
    "SLURM_STEP_NODELIST": "gpu[003-005],cpu1",
    "SLURM_JOB_ID": "123456",
    "SLURM_STEP_ID": "1",
}


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, False),
        ({"RANK": "0", "WORLD_SIZE": "1"}, False),
        ({"RANK": "1", "WORLD_SIZE": "2"}, True),
        ({"WORLD_SIZE": "8"}, False),  # left over from something else
        (SRUN, True),
        ({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, False),  # the script of a batch job, not what srun starts
        (SRUN | {"RANK": "0", "WORLD_SIZE": "1"}, False),  # torchrun within srun
    ],
)
def test_who_is_one_of_several(environment, found):
    assert is_one_of_several(environment) is found


def test_sruns_variables_become_torchs():
    environment = dict(SRUN)
    translate_slurm(environment)
    wanted = {"RANK": "5", "WORLD_SIZE": "7", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "gpu003"}
    assert wanted.items() <= environment.items()
    assert 20_000 <= int(environment["MASTER_PORT"]) < 30_000
    other = SRUN | {"SLURM_PROCID": "6", "SLURM_LOCALID": "0", "SLURM_NODEID": "3"}
    translate_slurm(other)
    assert (other["MASTER_PORT"], other["LOCAL_WORLD_SIZE"]) == (environment["MASTER_PORT"], "1")


def test_torchs_variables_stay():
    environment = SRUN | {"RANK": "1", "WORLD_SIZE": "2"}
    translate_slurm(environment)
    assert (environment["RANK"], environment["WORLD_SIZE"], "MASTER_ADDR" in environment) == ("1", "2", False)


@pytest.mark.parametrize(
    ("hosts", "first"),
    [("localhost", "localhost"), ("a,b", "a"), ("gpu[003-007,12],cpu1", "gpu003"), ("r[1-2]n[08,9]", "r1n08")],
)
def test_the_first_host_of_a_list(hosts, first):
    assert first_host(hosts) == first
