from ptcli.schedule.decay import Decaying


class Linear(Decaying):
    """Warm-up, then a straight line down (BERT, arXiv 1810.04805; RoBERTa, arXiv 1907.11692).

    By default it begins where the warm-up ends, as fairseq and XLNet do; Decaying says what BERT and ELECTRA do.
    """

    def decay(self, left: float) -> float:
        return left
