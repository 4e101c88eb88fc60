"""The three commands: plan, join, combine, and a refusal that is one sentence."""

import io
import json

import pytest

from dppca_core.combine.__main__ import main as combine
from dppca_core.join.__main__ import main as join
from dppca_core.joint.plan import JointPlan
from dppca_core.plan.__main__ import main as write_plan
from tests.core.joint.studies import NAMES, SCHEMA, frame

HOSPITALS = ("North", "South", "West")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Write a dictionary and three tables, and go there; each hospital has a book of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dictionary.json").write_text(SCHEMA.to_json(), encoding="utf-8")
    for name in HOSPITALS:
        frame(name).to_csv(f"{name}.csv", index=False)
    return tmp_path


def planned(*more):
    hospitals = [word for name in HOSPITALS for word in ("--hospital", f"{name}:300:2:1e-6")]
    return write_plan(["dictionary.json", *hospitals, *more])


def joined(monkeypatch, name, *more, typed="yes"):
    monkeypatch.setenv("DPPCA_ACCOUNTS", f"book-{name}")
    monkeypatch.setattr("builtins.input", lambda asked: typed)
    return join(["plan.json", f"{name}.csv", "--hospital", name, *more])


def test_a_study_by_three_commands(study, monkeypatch, capsys):
    assert planned("--name", "Three clinics") == 0
    agreed = JointPlan.from_json((study / "plan.json").read_bytes())
    assert " ".join(agreed.words) in capsys.readouterr().out
    for name in HOSPITALS:
        assert joined(monkeypatch, name, "--limit", "2.5") == 0
        shown = capsys.readouterr().out
        assert " ".join(agreed.words) in shown and "Your account has spent ε = 0 of 2.5" in shown
        assert "moment: mean product of each pair" in shown and "at most a factor of e^2" in shown
    first = (study / "answer-South.json").read_bytes()
    assert joined(monkeypatch, "South", typed="no") == 0  # it is not asked, as nothing is paid
    assert "costs nothing" in capsys.readouterr().out and (study / "answer-South.json").read_bytes() == first
    (study / "dictionary.json").unlink()
    assert combine(["plan.json", *map(str, study.glob("*.json"))]) == 0
    assert "All 3 hospitals have answered." in capsys.readouterr().out
    packed = (study / "joint-study.zip").read_bytes()
    assert combine(["plan.json", *(f"answer-{name}.json" for name in reversed(HOSPITALS))]) == 0
    assert (study / "joint-study.zip").read_bytes() == packed


def test_a_plan_holds_no_word_that_was_seen_in_cells(study, capsys):
    age, *others = SCHEMA.columns
    private = age.changed(missing_codes=("see the letter",))
    dictionary = SCHEMA.changed(columns=(private, *others))
    (study / "dictionary.json").write_text(dictionary.to_json(), encoding="utf-8")
    assert "the letter" in (study / "dictionary.json").read_text("utf-8") and planned("--name", "Three") == 0
    assert "the letter" not in (study / "plan.json").read_text("utf-8") + capsys.readouterr().out


def test_who_says_no_pays_nothing(study, monkeypatch, capsys):
    assert planned() == 0
    assert joined(monkeypatch, "South", "--limit", "2.5", typed="no") == 1
    assert "Nothing was paid or written." in capsys.readouterr().out
    assert not list(study.glob("answer-*"))
    assert joined(monkeypatch, "South") == 0
    assert "Your account has spent ε = 0" in capsys.readouterr().out


def test_nobody_at_the_keyboard_is_no_yes(study, monkeypatch, capsys):
    assert planned() == 0
    capsys.readouterr()
    monkeypatch.setenv("DPPCA_ACCOUNTS", "book")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code = join(["plan.json", "South.csv", "--hospital", "South", "--limit", "2.5"])
    assert code == 2 and "nobody is there to answer" in capsys.readouterr().err
    assert not list(study.glob("answer-*"))


def refused(capsys, code):
    assert code == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: ") and shown.count("\n") == 1
    return shown


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--yes",), "--yes needs --words with the first 2"),
        (("--yes", "--words", "abandon ability"), "--yes needs --words with the first 2"),
        ((), "this account has no limit yet"),
        (("--limit", "0.5"), "nothing was spent"),
        (("--limit", "2.5", "--hospital", "Nowhere"), "the plan has no hospital 'Nowhere'"),
        (("--limit", "2.5", "--dictionary", "South.csv"), "The dictionary must be JSON"),
        (("--limit", "2.5", "--out", "nowhere"), "No such file or directory"),
    ],
)
def test_taking_part_is_refused_in_one_sentence(study, monkeypatch, capsys, more, says):
    assert planned() == 0
    capsys.readouterr()
    assert says in refused(capsys, joined(monkeypatch, "South", *more))
    assert not list(study.glob("answer-*"))


def test_a_script_that_knows_the_words_is_not_asked(study, monkeypatch):
    assert planned() == 0
    words = " ".join(JointPlan.from_json((study / "plan.json").read_bytes()).words[:2])
    more = ("--limit", "2.5", "--yes", "--words", words)
    assert joined(monkeypatch, "South", *more, typed="no") == 0


def test_a_table_that_may_be_of_known_patients_is_asked_about(study, monkeypatch, capsys):
    assert planned() == 0
    assert joined(monkeypatch, "South", "--limit", "2.5") == 0
    frame("South").iloc[1:].to_csv("South.csv", index=False)
    (study / "answer-South.json").unlink()
    capsys.readouterr()
    assert "are these patients of an account of yours (1: " in refused(capsys, joined(monkeypatch, "South"))
    assert "nothing was spent" in refused(capsys, joined(monkeypatch, "South", "--account", "1"))


def test_one_account_of_other_patients_is_begun_when_asked(study, monkeypatch):
    assert planned() == 0
    assert joined(monkeypatch, "South", "--limit", "2.5") == 0
    frame(NAMES[3]).to_csv("South.csv", index=False)
    (study / "answer-South.json").unlink()
    assert joined(monkeypatch, "South", "--limit", "2.5", "--new-account") == 0


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--hospital", "North"), "a hospital must be NAME:PATIENTS:ε:δ"),
        (("--hospital", "North:x:1:1e-6"), "a hospital must be NAME:PATIENTS:ε:δ"),
        (("--k", "9"), "k must be between 1 and 4"),
        (("--counting", "merged"), "counting is stated where"),
    ],
)
def test_a_plan_is_refused_in_one_sentence(study, capsys, more, says):
    assert says in refused(capsys, planned(*more))
    assert not (study / "plan.json").exists()


def test_files_that_are_none_are_refused_in_one_sentence(study, capsys):
    assert "a.json" in refused(capsys, combine(["a.json", "b.json"]))
    assert planned() == 0
    capsys.readouterr()
    (study / "odd.json").write_text(json.dumps({"format": "x" * 10_000}), encoding="utf-8")
    for name in ("dictionary.json", "odd.json", "South.csv"):
        assert name in refused(capsys, combine(["plan.json", name]))


def test_a_plan_of_redcaps_dictionary(study, capsys):
    lines = [
        "Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
        '"Choices, Calculations, OR Slider Labels",Field Note,Text Validation Type OR Show Slider Number,'
        "Text Validation Min,Text Validation Max,Identifier?",
        "id,f,,text,ID,,,,,,",
        "age,f,,text,Age,,,number,0,120,",
        "weight,f,,text,Weight,,kg,number,30,200,",
        'sex,f,,radio,Sex,"1, female | 2, male",,,,,',
    ]
    (study / "redcap.csv").write_text("\n".join(lines), encoding="utf-8")
    assert write_plan(["redcap.csv", "--hospital", "North:300:2:1e-6", "--k", "1"]) == 0
    agreed = JointPlan.from_json((study / "plan.json").read_bytes())
    assert agreed.dictionary.features == ("age", "weight", "sex = female", "sex = male")
    assert "1 hospital" in capsys.readouterr().out
