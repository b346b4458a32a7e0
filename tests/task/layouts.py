"""Made-up rows of each preset, in the files in which its data set is given away."""

import json


def tsv(*rows: str) -> str:
    """Rows with | between the values."""
    return "".join(row.replace("|", "\t") + "\n" for row in rows)


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def squad(*questions: dict, context: str) -> str:
    paragraph = {"context": context, "qas": questions}
    return json.dumps({"version": "1", "data": [{"title": "t", "paragraphs": [paragraph]}]})


def answer(text: str, start: int) -> dict:
    return {"text": text, "answer_start": start}


MRPC = "Quality|#1 ID|#2 ID|#1 String|#2 String"
QQP = "id|qid1|qid2|question1|question2|is_duplicate"
STSB = "index|genre|filename|year|old_index|source1|source2|sentence1|sentence2"
MNLI = "index|promptID|pairID|genre|sentence1_binary_parse|sentence2_binary_parse|sentence1_parse|sentence2_parse"
MNLI += "|sentence1|sentence2"
FIVE = "label1|label2|label3|label4|label5|gold_label"
XNLI = "language|gold_label|sentence1_binary_parse|sentence1|sentence2|promptID|label1"
SPANS = {"span1_text": "小明", "span1_index": 0, "span2_text": "他", "span2_index": 3}
MARK = {"span1_text": "Mark", "span1_index": 0, "span2_text": "he", "span2_index": 4}
WHO = {"question": "谁先说？", "choice": ["男的", "女的"], "answer": "女的"}
DIALOGUE = json.dumps([[["男：你好。", "女：你好。"], [WHO], "14-1"]], ensure_ascii=False)
NAMES = {"name": {"叶老桂": [[2, 4]]}, "company": {"浙商": [[0, 1]]}}

LAYOUTS = {
    "cola": {
        "train.tsv": tsv("gj04|1||They sang.", 'gj04|0|*|Sang they "so.'),
        "dev.tsv": tsv("gj04|0|*|Of it."),
        "test.tsv": tsv("index|sentence", "0|Is it?"),
    },
    "sst2": {
        "train.tsv": tsv("sentence|label", "a fine film |1", "dull |0"),
        "dev.tsv": tsv("sentence|label", "nice|1"),
        "test.tsv": tsv("index|sentence", "0|well"),
    },
    "mrpc": {
        "train.tsv": "\ufeff" + tsv(MRPC, '1|7|8|A "b.|B a.', "0|9|5|C.|D."),
        "dev.tsv": tsv(MRPC, "0|1|2|E.|F."),
        "test.tsv": tsv("index|#1 ID|#2 ID|#1 String|#2 String", "0|1|2|G.|H."),
    },
    "qqp": {
        "train.tsv": tsv(QQP, "4|1|2|Why?|How?|0", "5|3", "6|1|2|A?|A ?|1"),
        "dev.tsv": tsv(QQP, "9|1|2|B?|C?|0"),
        "test.tsv": tsv("id|question1|question2", "0|D?|E?"),
    },
    "stsb": {
        "train.tsv": tsv(f"{STSB}|score", "0|news|x|2012|1|none|none|A plane.|A jet.|4.75"),
        "dev.tsv": tsv(f"{STSB}|score", "0|news|x|2012|1|none|none|A cat.|A man.|0"),
        "test.tsv": tsv(STSB, "0|news|x|2012|1|none|none|G.|H."),
    },
    "mnli": {
        "train.tsv": tsv(
            f"{MNLI}|label1|gold_label",
            "0|1|1n|fiction|p|p|p|p|He ran.|He moved.|entailment|entailment",
            "1|2|2n|fiction|p|p|p|p|He ran.|He slept.|contradiction|contradiction",
            "2|3|3n|fiction|p|p|p|p|He ran.|He won.|neutral|neutral",
        ),
        "dev_matched.tsv": tsv(
            f"{MNLI}|{FIVE}",
            "0|1|1n|fiction|p|p|p|p|It fell.|It moved.|neutral|entailment|entailment|entailment|neutral|entailment",
        ),
        "dev_mismatched.tsv": tsv(
            f"{MNLI}|{FIVE}",
            "0|1|1n|letters|p|p|p|p|It fell.|It flew.|neutral|neutral|neutral|neutral|neutral|neutral",
            "1|1|1n|letters|p|p|p|p|It fell.|It rose.|neutral|neutral|neutral|neutral|neutral|contradiction",
        ),
        "test_matched.tsv": tsv(MNLI, "0|1|1n|fiction|p|p|p|p|A.|B."),
        "test_mismatched.tsv": tsv(MNLI, "0|1|1n|letters|p|p|p|p|C.|D."),
    },
    "qnli": {
        "train.tsv": tsv("index|question|sentence|label", "0|Who?|He did.|entailment", "1|Who?|So.|not_entailment"),
        "dev.tsv": tsv("index|question|sentence|label", "0|Where?|Here.|entailment"),
        "test.tsv": tsv("index|question|sentence", "0|Why?|So."),
    },
    "rte": {
        "train.tsv": tsv("index|sentence1|sentence2|label", "0|A.|B.|not_entailment", "1|C.|D.|entailment"),
        "dev.tsv": tsv("index|sentence1|sentence2|label", "0|E.|F.|entailment"),
        "test.tsv": tsv("index|sentence1|sentence2", "0|G.|H."),
    },
    "wnli": {
        "train.tsv": tsv("index|sentence1|sentence2|label", "0|He saw it.|The dog saw it.|1", "1|A.|B.|0"),
        "dev.tsv": tsv("index|sentence1|sentence2|label", "0|C.|D.|0"),
        "test.tsv": tsv("index|sentence1|sentence2", "0|E.|F."),
    },
    "boolq": {
        "train.jsonl": lines(
            {"question": "is it so", "passage": "It is.", "idx": 0, "label": True},
            {"question": "is it", "passage": "It is not.", "idx": 1, "label": False},
        ),
        "val.jsonl": lines({"question": "is he", "passage": "He is.", "idx": 0, "label": True}),
        "test.jsonl": lines({"question": "is she", "passage": "She is.", "idx": 0}),
    },
    "cb": {
        "train.jsonl": lines(
            {"premise": "A.", "hypothesis": "B", "label": "contradiction", "idx": 0},
            {"premise": "A.", "hypothesis": "C", "label": "neutral", "idx": 1},
        ),
        "val.jsonl": lines({"premise": "A.", "hypothesis": "D", "label": "entailment", "idx": 0}),
    },
    "copa": {
        "train.jsonl": lines(
            {"premise": "It fell.", "choice1": "I let go.", "choice2": "Oh.", "question": "cause", "label": 0, "idx": 0}
        ),
        "val.jsonl": lines(
            {
                "premise": "It fell.",
                "choice1": "Oh.",
                "choice2": "It broke.",
                "question": "effect",
                "label": 1,
                "idx": 0,
            }
        ),
    },
    "wic": {
        "train.jsonl": lines(
            {"word": "bed", "sentence1": "A bed.", "sentence2": "A river bed.", "start1": 2, "label": False, "idx": 0},
            {"word": "run", "sentence1": "He ran.", "sentence2": "She runs.", "start1": 3, "label": True, "idx": 1},
        ),
        "val.jsonl": lines({"word": "run", "sentence1": "A run.", "sentence2": "I run.", "label": False, "idx": 0}),
    },
    "wsc_superglue": {
        "train.jsonl": lines(
            {"text": "Mark told Pete that he sang.", "target": MARK, "idx": 0, "label": True},
            {"text": "Mark told Pete that he ran.", "target": MARK, "idx": 1, "label": False},
        ),
        "val.jsonl": lines({"text": "Mark saw that he ran.", "target": MARK, "idx": 0, "label": False}),
        "test.jsonl": lines({"text": "Mark saw that he sang.", "target": MARK, "idx": 0}),
    },
    "squad": {
        "train-v1.1.json": squad(
            {"id": "a", "question": "Where?", "answers": [answer("Paris", 10)]}, context="He was in Paris."
        ),
        "dev-v1.1.json": squad(
            {"id": "b", "question": "Who?", "answers": [answer("He", 0), answer("He was", 0)]},
            context="He was in Rome.",
        ),
    },
    "squad_v2": {
        "train-v2.0.json": squad(
            {"id": "a", "question": "Where?", "is_impossible": False, "answers": [answer("Paris", 10)]},
            {"id": "b", "question": "When?", "is_impossible": True, "answers": [], "plausible_answers": []},
            context="He was in Paris.",
        ),
        "dev-v2.0.json": squad(
            {"id": "c", "question": "Why?", "is_impossible": True, "answers": []}, context="So it was."
        ),
    },
    "conll2003": {
        "eng.train": "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nPeter NNP I-NP I-PER\n",
        "eng.testa": "-DOCSTART- -X- -X- O\n\nLondon NNP I-NP I-LOC\n\n",
        "eng.testb": "Rome NNP I-NP I-LOC\n",
    },
    "conll2003_pos": {
        "train.txt": "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\nPeter NNP B-NP B-PER\n",
        "valid.txt": "London NNP B-NP B-LOC\n",
        "test.txt": "Rome NNP B-NP B-LOC\n",
    },
    "wnut17": {
        "train.conll": "@paul\tO\n'll\tO\nVienna\tB-location\n\t\nESB\tB-location\n",
        "emerging.dev.conll": "ESB\tB-location\nnow\tO\n\n",
        "emerging.test.annotated": "ESB\tO\n",
    },
    "afqmc": {
        "train.json": lines(
            {"sentence1": "怎么还款", "sentence2": "如何还款", "label": "1"},
            {"sentence1": "怎么还款", "sentence2": "额度多少", "label": "0"},
        ),
        "dev.json": lines({"sentence1": "借呗", "sentence2": "花呗", "label": "0"}),
        "test.json": lines({"id": 0, "sentence1": "借呗", "sentence2": "花呗"}),
    },
    "tnews": {
        "train.json": lines(
            {"label": "116", "label_desc": "news_game", "sentence": "游戏", "keywords": ""},
            {"label": "108", "label_desc": "news_edu", "sentence": "上课了", "keywords": ""},
        ),
        "dev.json": lines({"label": "100", "label_desc": "news_story", "sentence": "故事", "keywords": ""}),
        "test.json": lines({"id": 0, "sentence": "股票", "keywords": ""}),
    },
    "iflytek": {
        "train.json": lines(
            {"label": "11", "label_des": "薅羊毛", "sentence": "应用"},
            {"label": "2", "label_des": "免费WIFI", "sentence": "网"},
        ),
        "dev.json": lines({"label": "0", "label_des": "打车", "sentence": "车"}),
    },
    "cmnli": {
        "train.json": lines(
            {"sentence1": "他走了", "sentence2": "他在", "label": "contradiction"},
            {"sentence1": "他走了", "sentence2": "他累", "label": "-"},
            {"sentence1": "他走了", "sentence2": "他不在", "label": "entailment"},
        ),
        "dev.json": lines({"sentence1": "雨", "sentence2": "水", "label": "neutral"}),
    },
    "ocnli": {
        "train.json": lines(
            {"level": "easy", "sentence1": "他走了", "sentence2": "他在", "label": "contradiction", "id": 3},
            {"level": "easy", "sentence1": "他走了", "sentence2": "他累", "label": "-", "genre": "tv", "id": 4},
        ),
        "dev.json": lines({"level": "hard", "sentence1": "雨", "sentence2": "水", "label": "neutral", "id": 0}),
    },
    "wsc": {
        "train.json": lines(
            {"target": SPANS, "idx": 1, "label": "true", "text": "小明说他累了"},
            {"target": SPANS, "idx": 2, "label": "false", "text": "小明看他走了"},
        ),
        "dev.json": lines({"target": SPANS, "idx": 0, "label": "false", "text": "小明打他"}),
        "test.json": lines({"target": SPANS, "idx": 0, "text": "小明找他"}),
    },
    "csl": {
        "train.json": lines(
            {"id": 1, "abst": "本文研究雷达", "keyword": ["雷达", "信号"], "label": "1"},
            {"id": 2, "abst": "本文研究水", "keyword": ["火"], "label": "0"},
        ),
        "dev.json": lines({"id": 0, "abst": "本文研究光", "keyword": ["光"], "label": "1"}),
    },
    "cmrc2018": {
        "cmrc2018_train.json": squad(
            {"id": "T_0", "question": "在哪里？", "answers": [answer("北京", 2)]}, context="他在北京。"
        ),
        "cmrc2018_dev.json": squad(
            {"id": "D_0", "question": "谁？", "answers": [answer("他", 0), answer("他", 0)]}, context="他在上海。"
        ),
    },
    "c3": {"d-train.json": DIALOGUE, "m-train.json": DIALOGUE, "d-dev.json": DIALOGUE, "m-dev.json": DIALOGUE},
    "cluener": {
        "train.json": lines({"text": "浙商叶老桂说", "label": NAMES}),
        "dev.json": lines({"text": "没有", "label": {}}),
        "test.json": lines({"id": 0, "text": "四川"}),
    },
    "paws_x": {
        "translated_train.tsv": tsv("id|sentence1|sentence2|label", "1|甲在乙前|乙在甲前|0", "2|甲和乙|乙和甲|1"),
        "dev_2k.tsv": tsv("id|sentence1|sentence2|label", "1|甲|乙|0"),
        "test_2k.tsv": tsv("id|sentence1|sentence2|label", "1|丙|丁|1"),
    },
    "xnli": {
        "multinli.train.zh.tsv": tsv(
            "premise|hypo|label", "他 走 了|他 在|contradictory", "他 走 了|他 不在|entailment"
        ),
        "xnli.dev.tsv": tsv(XNLI, "fr|neutral||pluie|eau|1|neutral", "zh|contradiction||雨|火|2|neutral"),
    },
    "lcqmc": {
        "train.txt": tsv("喜欢打篮球|爱打篮球|1", "你好|再见|0"),
        "dev.txt": tsv("大家|家人|0"),
        "test.txt": tsv("谁有|有谁|1"),
    },
    "chnsenticorp": {
        "train.tsv": tsv("label|text_a", "1|房间很好", "0|太差"),
        "dev.tsv": tsv("qid|label|text_a", "0|1|不错"),
        "test.tsv": tsv("qid|label|text_a", "0|0|不好"),
    },
    "competition": {
        "train.tsv": tsv("12 2954 16|12 32 252|0", "29 485|29 485|1"),
        "test.tsv": tsv("5 6|7 8", "0 1|2"),
    },
}
