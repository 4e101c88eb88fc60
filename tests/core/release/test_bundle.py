"""The bundle: the same bytes each time, what it promises, and its code run as it stands on new rows."""

import io
import json
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from dppca_core import Budget, tables
from dppca_core.accounting import closed_form
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.arrays import PatientRows
from dppca_core.numerics import moments
from dppca_core.release import bundle, code_version, how_chosen, private_release, registry_record
from dppca_core.release.request import Request, parameters
from dppca_core.tables import Column, Schema
from tests.core.accounts.paying import TABLE

ROOT = Path(__file__).resolve().parents[3]
COLUMNS = (
    Column("age", "number", 0, 120, fill=60.0),
    Column("pulse", "number", 30, 220),
    Column("sex", "category", categories=("f", "m"), fill=""),
    Column("stage", "category", categories=("1", "2", "3"), fill="2", usual="1"),
)
SCHEMA = Schema(COLUMNS, bound=0.9)  # many rows are longer
NEW = "pulse,sex,age,stage,other\n61.5,f,40,1.0,x\n,m,50,2,x\n100,other,,3,x\n75,,130,,x\n"
# By hand, of NEW: (age-60)/60, (pulse-125)/95, sex less 1/2, stage less (1, 0, 0); the second has no pulse.
ENCODED = np.array(
    [
        [-20 / 60, -63.5 / 95, 0.5, -0.5, 0, 0, 0],
        [0, -25 / 95, -0.5, -0.5, -1, 0, 1],
        [1, -50 / 95, -0.5, -0.5, -1, 1, 0],
    ]
)
DELTA = 1e-5
LITERATURE, FIXED = how_chosen.ANSWERS[:2]


def released(n=400, schema=SCHEMA, delta=DELTA, averaged=False, statement="", **options):
    rng = np.random.default_rng(0)
    rows = moments.clip_rows(rng.normal(0.1, 0.4, (n, schema.d)), schema.bound)
    payer = Book().payer(TABLE)
    payer.set_limit(Limit(9.0, delta))
    request = Request(
        options.pop("method", "analyze_gauss"), schema.d, 2, Budget(2.0, delta), averaged=averaged, **options
    )
    part = PatientRows(rows, np.full((n, 1), 0.7), n // 2) if averaged else rows
    public = {"dictionary": json.loads(schema.to_json()), "dealt": "all in one place"}
    made = private_release.make(
        request, [part], payer, features=schema.features, public=public, chosen=statement
    )
    return made, payer


def texts(made, payer):
    return bundle.files(made.document, payer.balance(), made.payment)


def run_here(monkeypatch, folder, *line):
    """Run a program of the bundle in this process, which has imported what the program imports."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", list(line))
    runpy.run_path(line[0], run_name="__main__")


@pytest.mark.parametrize("asked", [{}, {"mean_share": 0.1, "scale_share": 0.2}], ids=str)
def test_its_code_runs_as_it_stands_on_new_rows(tmp_path, monkeypatch, capsys, asked):
    """With categories, fills, cells that are missing, outside or none of the categories, and a number 1.0."""
    made, payer = released(**asked)
    packed = zipfile.ZipFile(
        io.BytesIO(bundle.pack(bundle.files(made.document, payer.balance(), made.payment)))
    )
    packed.extractall(tmp_path / "bundle")
    (tmp_path / "new-rows.csv").write_text(NEW)
    pd.read_csv(io.StringIO(NEW)).head(1).to_parquet(tmp_path / "one.parquet")
    line = ["bundle/apply.py", "new-rows.csv", "scores.csv"]
    if asked:
        run_here(monkeypatch, tmp_path, *line)
        out, err = capsys.readouterr()
    else:  # in a process of its own
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        run = {"cwd": tmp_path, "env": environment, "capture_output": True, "check": True, "text": True}
        done = subprocess.run([sys.executable, *line], **run)
        out, err = done.stdout, done.stderr
    assert out == ""
    assert err.startswith("1 of 4 rows lack a cell and have no score.\n2 cells are outside")
    noisy = [name for name, noise in zip("12", made.is_noise, strict=True) if noise]
    says = f"Components [{', '.join(noisy)}] are mostly noise" if noisy else ""
    assert says in err and ("mostly noise" in err) == bool(noisy)
    scores = pd.read_csv(tmp_path / "scores.csv")
    document = made.document
    rows = ENCODED / 0.9
    rows = rows - document["mean"] if "mean_share" in asked else rows
    rows = rows / document["scales"] / document["length after scaling"] if "scale_share" in asked else rows
    assert list(scores) == ["component 1", "component 2"] and scores.iloc[1].isna().all()
    np.testing.assert_allclose(scores.drop(1), rows @ made.basis, rtol=0, atol=1e-12)
    if not asked:
        run_here(monkeypatch, tmp_path, "bundle/apply.py", "one.parquet", "one.csv")
        np.testing.assert_allclose(pd.read_csv(tmp_path / "one.csv"), scores.head(1), rtol=1e-12)


def test_its_code_reads_decimal_commas_and_the_words_of_a_saved_dictionary(tmp_path, monkeypatch, capsys):
    """A decimal comma beside a word is a number, and mapped words are as they were for the release."""
    words = {"pulse": {"missing_codes": ("<30",)}, "sex": {"synonyms": (("woman", "f"),)}}
    mapped = Schema(tuple(column.changed(**words.get(column.name, {})) for column in COLUMNS), bound=0.9)
    made, payer = released(schema=mapped.published)
    for name, text in texts(made, payer).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "saved.json").write_text(mapped.to_json())
    (tmp_path / "other.json").write_text(Schema(COLUMNS, bound=0.8).to_json())
    (tmp_path / "new.csv").write_text("pulse;sex;age;stage\n61,5;woman;40;1,0\n;;;\n<30;m;50;2\n100;f;;3\n")

    def run(*dictionary):
        run_here(monkeypatch, tmp_path, "apply.py", "new.csv", "scores.csv", *dictionary)

    run("saved.json")
    assert (
        capsys.readouterr().err.partition("Components")[0] == "2 of 4 rows lack a cell and have no score.\n"
    )
    scores = pd.read_csv(tmp_path / "scores.csv")
    np.testing.assert_allclose(scores.iloc[0], ENCODED[0] / 0.9 @ made.basis, rtol=0, atol=1e-12)
    assert scores.isna().all(axis=1).tolist() == [False, True, True, False]  # a blank row keeps its place
    with pytest.raises((SystemExit, ValueError), match="not that of this release"):
        run("other.json")
    with pytest.raises((SystemExit, ValueError), match="number"):
        run()  # a word that the published dictionary does not know is none


# Each way in which a cell can be read: by stated marks and by none, words and numbers as categories, no fill.
WIDE = Schema(
    (
        Column("größe", "number", 0, 250, fill=170.0, usual=165.0),
        Column("pulse", "number", 30, 220),
        Column("crp", "number", -5, 4000, fill=3.0, decimal=",", group="."),
        Column("'=1+1; a", "number", 0, 10_000, fill=1.0, decimal=".", group="'"),
        Column("100 %", "number", 0, 1e6, fill=5.0, decimal=",", group=" "),
        Column("sex", "category", categories=("f", "m"), fill=""),
        Column("stage", "category", categories=("1", "2,5", "III ü"), fill="2,5", usual="1"),
        Column("smoker", "category", categories=("true",), fill="true"),
        Column("-x", "category", categories=("-a", "b"), decimal=","),
    ),
    bound=1.3,
)
CELLS = {
    "größe": ("170", "\u22121", "1e2", "", "N/A", "180.25", " +90. ", "999", "true", ".5", "1.5E+2", "inf"),
    "pulse": ("61", "70", "80", "90", "100", "?", "75", "30", "220", "221", "29.99", "1e999"),
    "crp": ("1.234,5", "3,25", "\u22122", "-6", "4.001", "na", "", "1.0e2", ",5", "17", "3", "0"),
    "'=1+1; a": ("1'234.5", "1\u2019234", "5", "", "7.25", "8", "1e3", "0", "20000", "9.5", "1", "2"),
    "100 %": ("1 234,5", "1\u00a0234", "12\u202f345", "5", "6,5", "1e6", "2e6", "", "7", "8", "9", "1"),
    "sex": ("f", "m", " f ", "", "F", "other", "null", "m", "f", "f", "m", "f"),
    "stage": ("1", "1.0", "2,5", "2.5", "III ü", "iii ü", "", "3", "0x1", "1e0", "2,50", "III ü"),
    "smoker": ("true", "TRUE", "1", "0", "no", "", "yes", "1.0", "false", "#N/A", "2", "True"),
    "-x": ("-a", "b", "b", "-a", "c", "b", "b", "b", "-a", "b", "b", "b"),
    "other": tuple('say "a; b", c' for _ in range(12)),
}


def csv_of(separator, decimal="."):
    """Return the cells as a CSV; decimal: of columns that state none."""
    frame = pd.DataFrame(CELLS)
    frame["pulse"] = frame["pulse"].str.replace(".", decimal)
    frame["größe"] = frame["größe"].str.replace(".5", f"0{decimal}5").str.replace("180.25", f"180{decimal}25")
    return frame.to_csv(index=False, sep=separator)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize(
    ("written", "locale", "schema", "asked"),
    [
        (NEW, "C.UTF-8", SCHEMA, {}),
        (
            NEW.replace("x\n", '5" tall\n', 1)
            .replace("x\n", '"two\nlines"\n', 1)
            .replace("x\n", '6"\n', 1)
            .replace(",", ";")
            .replace("61.5", "61,5"),
            "C",
            SCHEMA,
            {"mean_share": 0.1, "scale_share": 0.2},
        ),
        ("\ufeff" + csv_of(","), "C", WIDE, {"scale_share": 0.2}),
        (csv_of(";", ","), "C.UTF-8", WIDE, {"mean_share": 0.1}),
        ("\r\n\r\n".join(csv_of(",").splitlines()[:2]) + "\r\n", "C", WIDE, {}),
    ],
    ids=["comma", "semicolon", "wide", "wide semicolon", "a row"],
)
def test_its_program_in_r_gives_the_same_scores(tmp_path, written, locale, schema, asked):
    """To a last digit or two, and the same sentences; in whatever alphabet R speaks."""
    made, payer = released(schema=schema, **asked)
    for name, text in texts(made, payer).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "new.csv").write_bytes(written.encode())
    run = {"cwd": tmp_path, "capture_output": True, "text": True}
    ours = subprocess.run(
        [sys.executable, "apply.py", "new.csv", "ours.csv"], env=os.environ | {"PYTHONPATH": str(ROOT)}, **run
    )
    theirs = subprocess.run(
        ["Rscript", "apply.R", "new.csv", "theirs.csv"], env=os.environ | {"LC_ALL": locale}, **run
    )
    assert (ours.returncode, theirs.returncode) == (0, 0), theirs.stderr
    assert theirs.stderr == ours.stderr and theirs.stdout == ""
    scores = pd.read_csv(tmp_path / "ours.csv")
    assert scores.notna().any(axis=None)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "theirs.csv"), scores, rtol=1e-12, atol=1e-15)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("pulse,sex,age,stage\n<30,m,50,2\n", "Column 'pulse' holds no number in row 1."),
        ("pulse;sex;age;stage\n70;m;50;2\n1.012;m;50;2\n", "Column 'pulse' holds no number in row 2."),
        ("pulse,sex,age\n70,m,50\n", "The table must have one column 'stage'."),
        ("pulse,sex,age,stage\n70,m,50\n", "Row 1 has not as many cells as the names."),
        ("pulse,sex,age,stage\n70,\udcff,50,1\n", "The file is not in UTF-8"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_both(tmp_path, written, says):
    made, payer = released()
    for name, text in texts(made, payer).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "new.csv").write_bytes(written.encode(errors="surrogateescape"))
    run = {"cwd": tmp_path, "capture_output": True, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
    assert subprocess.run([sys.executable, "apply.py", "new.csv", "scores.csv"], **run).returncode
    refused = subprocess.run(["Rscript", "apply.R", "new.csv", "scores.csv"], **run)
    assert refused.returncode and says.encode() in refused.stderr
    assert not (tmp_path / "scores.csv").exists()


def test_the_total_is_of_a_row_and_of_a_patient_with_the_most_rows():
    made, payer = released(rows_per_patient=8)
    of_patient = payer.balance().spent_by_patient(8)
    assert (
        f"ε = 2 for a row, and {of_patient:.4g} for a patient with 8 rows, is spent, by 1 release"
        in texts(made, payer)["guarantee.md"]
    )


def test_the_same_release_gives_the_same_bytes_and_nothing_of_the_machine(tmp_path):
    made, payer = released()
    packed = bundle.pack(bundle.files(made.document, payer.balance(), made.payment))
    assert packed == bundle.pack(
        bundle.files(json.loads(json.dumps(made.document)), payer.balance(), made.payment)
    )
    archive = zipfile.ZipFile(io.BytesIO(packed))
    listed = archive.read("README.txt").decode()
    assert [line.split(":")[0] for line in listed.splitlines()] == [
        "README.txt",
        "components.csv",
        "dictionary.json",
        "release.json",
        "guarantee.md",
        "account.jsonl",
        "recipe.json",
        "registry-record.yaml",
        "apply.py",
        "apply.R",
        "apply.csv",
    ]
    assert sorted(archive.namelist()) == sorted(line.split(":")[0] for line in listed.splitlines())
    everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    for path in (str(ROOT), str(Path.home()), sys.prefix):
        assert path not in everything
    assert json.loads(archive.read("release.json")) == made.document
    assert Schema.from_json(archive.read("dictionary.json")) == SCHEMA


@pytest.mark.parametrize(
    ("method", "more"),
    [("dpdis_pca", {"rank": 3}), ("two_stage", {"s_hat": "released", "mean_share": 0.1})],
)
def test_its_recipe_asks_for_the_same_release_and_its_payment_pays_for_it(method, more):
    made, payer = released(method=method, **more)
    member = texts(made, payer)
    asked = Request.from_plain(json.loads(member["recipe.json"])["request"])
    assert asked.events == made.payment.events and parameters(asked) == made.document["parameters"]
    other = Book().payer(TABLE)
    assert other.merge(member["account.jsonl"], same_patients=True).payments == (made.payment,)
    assert other.balance().limit == Limit(9.0, DELTA)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "Unit of privacy: a patient. 400 patients"),
        ({}, "δ is below 1/n: δ n = 0.004"),
        ({"delta": 0.01}, "**δ is not below 1/n**: δ n = 4,"),
        ({"rows_per_patient": 8}, "Unit of privacy: a row. 400 rows"),
        ({"averaged": True}, "Unit of privacy: a patient. 200 patients"),
        ({"statement": ""}, "were chosen: not stated."),
        (
            {"statement": how_chosen.statement(LITERATURE, "code <b>book</b>")},
            "book: code &lt;b&gt;book",
        ),
        ({}, "ε = 2 of a limit of 9 is spent, by 1 release, at δ = 1e-05."),
    ],
)
def test_the_guarantee_states_its_unit_and_delta_beside_the_number_of_patients(options, expected):
    made, payer = released(**options)
    written = texts(made, payer)["guarantee.md"]
    assert expected in written and made.document["guarantee"] in written
    assert f"with all their rows: {made.document['epsilon for a patient']:.4g}." in written
    mu, rows = 1 / closed_form.multiplier_of(made.payment.events), options.get("rows_per_patient", 1)
    for name, distance in (("trade-off", mu), ("trade-off for a patient", mu * rows)):
        stated = made.document[name]
        assert stated["mu"] == pytest.approx(distance)
        limits = norm.isf(stated["false alarms"])
        np.testing.assert_allclose(stated["misses"], norm.cdf(limits, loc=distance), rtol=1e-9, atol=1e-15)
    assert f"{mu:.4g} for a {'row, ' if 'rows_per_patient' in options else 'patient.'}" in written
    assert f"μ = {mu:.4g}" in made.document["guarantee"]
    n = sum(made.document["hospitals"])
    assert made.document["delta times n"] == options.get("delta", DELTA) * n


def test_names_that_are_paths_or_formulas_stay_inside(tmp_path):
    hostile = ("../../x", "/etc/passwd", '=HYPERLINK("http://x")', "C:\\x\\..", "a;=1+1", "apply.py")
    made, payer = released(schema=Schema(tuple(Column(name, "number", 0, 1) for name in hostile)))
    archive = zipfile.ZipFile(
        io.BytesIO(bundle.pack(bundle.files(made.document, payer.balance(), made.payment)))
    )
    assert all(Path(name).name == name for name in archive.namelist()) and len(archive.namelist()) == 11
    read_by_r = pd.read_csv(io.BytesIO(archive.read("apply.csv")), dtype=str, keep_default_na=False)
    assert [unquote(name) for name in read_by_r["column"]] == list(hostile)
    texts_in_it = read_by_r[["column", "category", "decimal", "group"]]
    assert (texts_in_it.map(tables.safe_cell) == texts_in_it).all(axis=None)
    table = pd.read_csv(io.BytesIO(archive.read("components.csv")))
    assert list(table["feature"]) == [
        "../../x",
        "/etc/passwd",
        *(tables.safe_cell(name) for name in hostile[2:]),
    ]
    assert table["feature"][2].startswith("'=") and ";'=" in table["feature"][4]
    np.testing.assert_allclose(table.filter(like="component ").filter(regex="^c"), made.basis)


def test_what_was_chosen_is_that_of_the_payment_and_costs_no_resumption():
    statement = how_chosen.statement(FIXED, "protocol 12/2025")
    made, payer = released(statement=statement)
    assert made.document[how_chosen.KEY] == statement == made.payment.about[how_chosen.KEY]
    record = registry_record.record(made.document)["deployment"]["implementation"]
    assert f"chosen: {statement}." in record["preprocessing_and_hyperparameter_tuning"]
    assert how_chosen.KEY not in released()[0].payment.about
    rng_rows = moments.clip_rows(np.random.default_rng(0).normal(0.1, 0.4, (400, SCHEMA.d)), SCHEMA.bound)
    again = private_release.make(
        bundle.recipe(made.document),
        [rng_rows],
        payer,
        features=SCHEMA.features,
        public=made.document["public"],
        resumed=made.payment,
        chosen="another by now",
    )
    assert again.document == made.document
    for answer, sentence in (
        ("other", ""),
        (LITERATURE, "x" * 201),
        (how_chosen.NOT_STATED, "two\nlines"),
    ):
        with pytest.raises(ValueError, match="how columns and k were chosen"):
            how_chosen.statement(answer, sentence)
    for planted in (None, 3, "", "x" * 999, "two\nlines"):
        assert how_chosen.stated(planted) == how_chosen.NOT_STATED


def git(folder, *words):
    names = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run(["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_commit_is_read_off_the_files_of_any_checkout(tmp_path):
    """Loose, packed, detached, and of a worktree; none without a repository or in a damaged one."""
    home, beside = tmp_path / "home", tmp_path / "beside"
    home.mkdir()
    assert code_version.commit(home) is None
    git(home, "init", "-b", "trunk")
    assert code_version.commit(home) is None
    git(home, "commit", "--allow-empty", "-m", "first")
    first = git(home, "rev-parse", "HEAD")
    assert code_version.commit(home) == first
    git(home, "worktree", "add", "-b", "part/one", str(beside))
    git(beside, "commit", "--allow-empty", "-m", "second")
    assert code_version.commit(beside) == git(beside, "rev-parse", "HEAD") != first
    git(home, "pack-refs", "--all")
    assert code_version.commit(home) == first and code_version.commit(beside) != first
    git(home, "checkout", "--detach")
    assert code_version.commit(home) == first
    (home / ".git/HEAD").write_text("ref: ../../secret")
    assert code_version.commit(home) is None
