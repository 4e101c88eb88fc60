"""The plan of a study by mail: only where joining pays if nobody is trusted, and as the command writes it."""

from pathlib import Path

import pytest

from dppca_core.experiments.decision.rule import Answer
from dppca_core.joint.plan import JointPlan
from dppca_core.plan.__main__ import main
from dppca_core.tables import dictionary_file
from pages.hospitals.providers import document
from pages.hospitals.providers.model import by_mail as model
from pages.hospitals.providers.model.decision import JoiningBoard
from pages.hospitals.providers.sentences import by_mail as words
from pages.hospitals.providers.sentences import cases
from pages.shared import text
from pages.shared.document import blocks as b
from pages.shared.settings import catalogue
from pages.shared.settings.scene_buttons import NAMES
from tests.pages.conftest import Screen
from tests.pages.documents import walk
from tests.pages.hospitals.providers.test_decision import FIVE_LARGE, PAGE, VERDICTS
from tests.pages.test_plain import long_sentences, unreadable

EXAMPLE = Path(__file__).resolve().parents[4] / "examples" / "by_mail"
DICTIONARY = (EXAMPLE / "dictionary.json").read_bytes()
CLINICS = ("North", "South", "Harbour", "Hill", "University")
JOINING = {
    "view": "plain",
    "preset": catalogue.CHOICES["preset"].link(FIVE_LARGE),
    "join.use": "publish",
}


def board(names=CLINICS):
    return JoiningBoard(VERDICTS[Answer.JOIN]().settings, names)


@pytest.mark.parametrize("answer", VERDICTS, ids=lambda answer: answer.name)
def test_mail_is_advised_only_where_joining_pays_if_nobody_is_trusted(answer):
    settings = VERDICTS[answer]().settings
    at, page = JoiningBoard(settings), document.at(settings, (), lambda board: None)
    parts = list(walk(page.blocks()))
    asked = [part for part in parts if isinstance(part, b.Interactive)]
    shown = [part.words for part in parts if isinstance(part, b.Text | b.Note)]
    mail = [sentence for sentence in (*cases.cheats(at), *cases.colludes(at)) if "By mail" in sentence]
    if answer is Answer.JOIN:
        assert model.is_advised(at) and len(asked) == 1 and words.ADVISED in shown and len(mail) == 2
        stated = text.unmarked("\n".join([words.ADVISED, *mail]))
        assert not unreadable(stated) and not long_sentences(stated)
    else:
        assert not model.is_advised(at) and not asked and not mail
        assert words.why_not(answer) in shown and words.ADVISED not in shown
        assert not long_sentences(words.why_not(answer))
    assert words.TITLE not in page.html()


def test_the_plan_is_the_one_that_the_command_writes(tmp_path, capsys):
    at = board()
    made = model.planned(at, dictionary_file.read(DICTIONARY), name="Five clinics", rows="standardised")
    stated = [
        f"--hospital={name}:{hospital.patients}:{hospital.epsilon}:{at.setting.delta}"
        for name, hospital in zip(CLINICS, at.setting.hospitals, strict=True)
    ]
    out = tmp_path / "plan.json"
    options = [
        "--name",
        "Five clinics",
        "--rows",
        "standardised",
        "--k",
        str(at.setting.k),
        "--out",
        str(out),
    ]
    assert main([str(EXAMPLE / "dictionary.json"), *stated, *options]) == 0
    assert JointPlan.from_json(out.read_bytes()).digest == made.digest
    assert " ".join(made.words) in capsys.readouterr().out


def test_a_dictionary_names_the_patients_and_what_it_lacks_is_said():
    whole = DICTIONARY.decode().rstrip().removesuffix("}")
    named = dictionary_file.read(f'{whole}, "patients": {{"column": "id", "rows": "merged"}}}}'.encode())
    made = model.planned(board(), named, name="Named", rows="centred")
    assert (made.patient_column, made.counting) == ("id", "merged")
    redcap = (
        "Variable / Field Name,Form Name,Field Type,Field Label,"
        '"Choices, Calculations, OR Slider Labels",Text Validation Type OR Show Slider Number,'
        "Text Validation Min,Text Validation Max\n"
        "record,f,text,Record,,,,\nage,f,text,Age,,number,0,120\npulse,f,text,Pulse,,number,30,220\nweight,f,text,Weight,,number,20,\n"
    )
    opened = dictionary_file.read(redcap.encode())
    assert opened.schema.features == ("age", "pulse") and opened.left_out == ("weight",)
    assert "weight" in words.left_out(opened.left_out)


def on_screen():
    screen = Screen(PAGE, **JOINING)
    screen.app.session_state["plan fold"] = True
    screen.settle()
    return screen


def test_a_plan_is_made_on_the_page_and_outlives_its_fold():
    board()  # measured once
    screen = on_screen()
    assert "“Ours” and “Hospital B”" in screen.notices and not screen.app.file_uploader
    screen.app.session_state[NAMES] = CLINICS
    screen.run()
    assert words.WHERE in screen.captions
    box = screen.app.file_uploader(key="plan dictionary")
    box.set_value(("dictionary.json", b"{}", "application/json"))
    screen.run()
    assert len(screen.app.error) == 1 and not screen.app.code
    screen.app.file_uploader(key="plan dictionary").set_value(("d.json", DICTIONARY, "application/json"))
    screen.run()
    screen.app.text_input(key="plan name").set_value("Five clinics")
    screen.run()
    at = JoiningBoard(screen.settings, CLINICS)
    made = model.planned(at, dictionary_file.read(DICTIONARY), name="Five clinics", rows="standardised")
    assert [box.value for box in screen.app.code] == [" ".join(made.words)]
    labels = [button.proto.label for button in screen.app.get("download_button")]
    assert words.DOWNLOAD in labels
    for opened in (False, True):
        screen.app.session_state["plan fold"] = opened
        screen.run()
    assert [box.value for box in screen.app.code] == [" ".join(made.words)]
    screen.app.text_input(key="plan name").set_value("a/b")
    screen.run()
    assert "letters, digits" in screen.app.error[0].value and not screen.app.code


def test_a_plan_near_a_guess_is_not_offered(monkeypatch):
    screen = on_screen()
    screen.app.session_state[NAMES] = CLINICS
    screen.run()
    monkeypatch.setattr("dppca_core.joint.forecast.Forecast.near_guess", True)
    screen.app.file_uploader(key="plan dictionary").set_value(("d.json", DICTIONARY, "application/json"))
    screen.run()
    assert words.NEAR_GUESS in [box.value for box in screen.app.warning]
    labels = [button.proto.label for button in screen.app.get("download_button")]
    assert words.DOWNLOAD not in labels
