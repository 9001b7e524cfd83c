"""`forecast ui`: runs of a folder over HTTP, on this machine, to whoever has the token; in real Chromium too."""

import http.client
import json
import os
import re
import shutil
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import forecast_attn
from forecast_attn.live.runs_server import RunsServer

pytestmark = pytest.mark.slow

NASTY = "<img src=x onerror=alert(1)>&'\"?#%2F"
"""A run's name: a folder of such a name can be made."""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


class Site:
    """A server of a folder, asked as a browser does."""

    def __init__(self, server):
        self.server = server
        self.folder = server.pages.folder

    def ask(self, path, *, host=None, method="GET", token=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=60)
        connection.putrequest(method, f"/{self.server.token if token is None else token}/{path}", skip_host=True)
        if host != "":
            connection.putheader("Host", host or f"127.0.0.1:{self.server.server_port}")
        connection.endheaders()
        reply = connection.getresponse()
        answer = Answer(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read().decode())
        connection.close()
        return answer

    def runs(self):
        return json.loads(self.ask("runs.json").text)


def unfinished(run, target, epochs=2):
    """A run as it is while it trains: a configuration, and the epochs so far."""
    target.mkdir()
    shutil.copy(run / "config.json", target)
    rows = (run / "history.csv").read_text().splitlines()
    (target / "history.csv").write_text("\n".join(rows[: epochs + 1]) + "\n")
    return target


@pytest.fixture
def site(finished_run, tmp_path):
    """A finished run with a forecast and one of a nasty name, served from a thread."""
    folder = tmp_path / "runs"
    shutil.copytree(finished_run, folder / "first")
    with RunsServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Site(server)
        server.shutdown()
        thread.join()


# --------------------------------------------------------------------------- who is let in


def test_without_the_token_nothing_is_told(site):
    for token in ("", "wrong", "%C3%BC", "%00", "a" * 10_000, site.server.token[:-1], f"{site.server.token}a"):
        for path in ("", "runs.json", "runs/first/report"):
            answer = site.ask(path, token=token)
            assert answer.status == 403, (token, path)
            assert "first" not in answer.text
            assert site.server.token not in answer.text


def test_an_address_that_is_none_is_refused(site):
    for address in ("http://[x/", "x", "*", "", "?"):
        assert site.server.reply("127.0.0.1", address).status == 403, address
    url = f"http://127.0.0.1/{site.server.token}/"  # as to a proxy
    assert site.server.reply("127.0.0.1", url).status == 200


def test_a_name_that_leads_here_from_elsewhere_is_refused(site):
    """As a page of another site that had its own name lead to this machine (DNS rebinding)."""
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example:1", "", "[::2]"):
        assert site.ask("", host=host).status == 403, host
    for host in ("localhost", "localhost:9000", "127.0.0.1", "LOCALHOST:1"):  # the last but one: an SSH tunnel
        assert site.ask("", host=host).status == 200, host


def test_it_listens_at_this_machine_alone_and_every_start_has_its_token(site, tmp_path):
    assert site.server.socket.getsockname()[0] == "127.0.0.1"
    with RunsServer(tmp_path) as other:
        assert other.token != site.server.token
        assert len(other.token) >= 32
        assert other.url == f"http://127.0.0.1:{other.server_port}/{other.token}/"


def test_there_is_nothing_but_the_pages(site):
    for path in ("x", "runs/../runs.json", "runs/..%2Ffirst/report", "runs/%2e%2e/report", "runs/none/report"):
        assert site.ask(path).status == 404, path
    for path in ("", "config.json", "forecast", "..%2f..%2fconfig.json"):
        assert site.ask(f"runs/first/{path}").status == 404, path


def test_it_only_reads(site, files_in):
    before = files_in(site.folder)
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert site.ask("runs.json", method=method).status == 501, method
    for path in ("", "runs.json", "runs/first/validation", "runs/first/report"):
        assert site.ask(path).status == 200, path
    assert files_in(site.folder) == before


def test_answers_are_not_kept_framed_or_guessed_at(site):
    answer = site.ask("")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["server"] == "forecast-attn"
    assert site.ask("", method="HEAD").text == ""
    without_slash = site.server.reply("127.0.0.1", f"/{site.server.token}")
    assert (without_slash.status, without_slash.location) == (308, f"/{site.server.token}/")


# --------------------------------------------------------------------------- what is told


def test_a_run_is_told_as_its_files_have_it(site):
    (run,) = site.runs()
    metrics = json.loads((site.folder / "first" / "metrics.json").read_text())
    history = pd.read_csv(site.folder / "first" / "history.csv")
    assert run["curves"] == [history[["epoch", "train_loss", "validation_loss"]].to_numpy().tolist()]
    assert (run["mae"], run["skill"]) == (metrics["validation"]["mae"], metrics["skill_per_cent"])
    assert (run["attention"], run["table"], run["finished"]) == ("luong-general", "data.csv", True)
    assert run["pages"] == ["validation", "report"]


def test_a_combination_without_a_baseline_is_none(site, without_manifest):
    without_manifest(site.folder / "first")
    path = site.folder / "first" / "metrics.json"
    metrics = json.loads(path.read_text())
    for weights, combined in (({"network": 1.0}, None), ({"network": 0.4, "linear": 0.6}, 1.5)):
        alone = {"theta": {"mae": metrics["validation"]["mae"] / 101, "rmse": 1.0, "mase": 1.0}}
        chosen = {"weights": weights, "alone": alone, "validation": {**metrics["validation"], "mae": 1.5}}
        path.write_text(json.dumps({**metrics, "combination": chosen}))
        (run,) = site.runs()
        assert run.get("problem") is None
        assert run["combined"] == combined
        assert (run["baseline"], run["skill"]) == ("theta", pytest.approx(-10_000)), "the best of all, as in the report"


def test_new_runs_and_epochs_come_in_and_a_damaged_run_hides_no_other(site, finished_run):
    run = unfinished(finished_run, site.folder / NASTY, epochs=0)
    os.utime(run / "config.json", (4e9, 4e9))
    newest, first = site.runs()
    assert (newest["name"], newest["finished"], newest["pages"]) == (run.name, False, [])
    assert newest["curves"] == []
    shutil.copy(finished_run / "history.csv", run)
    assert len(site.runs()[0]["curves"][0]) == 2
    for row in ("3,nan,1.0", "3,1.0,inf", "3,1.0", "x,1.0,1.0"):
        (run / "history.csv").write_text(f"epoch,train_loss,validation_loss\n1,1.0,1.0\n{row}\n")
        assert json.loads(site.ask("runs.json").text, parse_constant=pytest.fail) == site.runs()
        damaged = next(each for each in site.runs() if each["name"] == run.name)
        assert damaged["problem"] == "cannot be read: history.csv has no epoch and losses in row 2"
    (run / "config.json").write_text("{")
    damaged = next(each for each in site.runs() if each["name"] == run.name)
    assert "damaged" in damaged["problem"]
    assert first in site.runs()
    (run / "config.json").unlink()
    assert [each["name"] for each in site.runs()] == ["first"]


def test_the_pages_of_a_run_are_those_of_the_commands(site, forecast, tmp_path, monkeypatch):
    run = site.folder / "first"
    forecast("inspect", run, "--validation", "--html", tmp_path / "page.html")
    page = site.ask("runs/first/validation").text
    nav = re.search("<nav.*?</nav>\n", page)[0]
    assert page.replace(nav, "") == (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall('href="([^"]+)"', nav) == ["../../", "report"]
    monkeypatch.setattr("forecast_attn.live.pages._make", lambda *_: pytest.fail("a page that is known is not made"))
    assert site.ask("runs/first/validation").text == page


def test_a_page_follows_its_run(site, forecast):
    assert "Deleting" not in site.ask("runs/first/report").text
    before = site.ask("runs/first/report").text
    assert forecast("predict", site.folder / "first", "--quiet").code == 0
    assert site.ask("runs/first/report").text != before
    assert site.runs()[0]["pages"] == ["forecast", "validation", "report"]


def test_a_damaged_run_is_told_in_a_sentence(site):
    (site.folder / "first" / "schema.json").write_text("{}")
    answer = site.ask("runs/first/report")
    assert answer.status == 500
    assert answer.text.startswith("error: ")
    assert answer.headers["content-type"].startswith("text/plain")


# --------------------------------------------------------------------------- the command


def test_the_command_prints_the_address_and_ends_with_ctrl_c(forecast, here, monkeypatch):
    def interrupt(server):
        raise KeyboardInterrupt

    monkeypatch.setattr(RunsServer, "serve_forever", interrupt)
    outcome = forecast("ui", "--port", "0")
    assert outcome.code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/\n", outcome.out)
    assert outcome.err == "Ctrl-C ends it\nstopped\n"
    addresses = []
    forecast_attn.ui(".", port=0, on_listening=addresses.append)
    assert len(addresses) == 1


def test_a_folder_that_is_not_there_a_run_and_a_port_in_use_are_refused(refused, run_copy, tmp_path):
    refused("ui", "nowhere", message="there is no folder 'nowhere'", hint="name a folder", code=2)
    refused("ui", run_copy, message="is one run", hint="forecast ui .", code=2)
    with RunsServer(tmp_path) as server:
        port = server.server_port
        refused("ui", ".", "--port", port, message=f"cannot listen at 127.0.0.1:{port}", hint="--port 0", code=2)


# --------------------------------------------------------------------------- in a browser


def points(browser, kind):
    drawn = browser.ask(f"document.querySelector('#runs path.{kind}').getAttribute('d')")
    return np.array([list(map(float, pair)) for pair in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", drawn)])


def look_again(browser):
    browser.ask("document.dispatchEvent(new Event('visibilitychange'))")


def test_the_list_draws_the_losses_and_asks_nobody_else(browser, site):
    browser.open(site.server.url)
    browser.wait("document.querySelector('#runs path.forecast') !== null")
    history = pd.read_csv(site.folder / "first" / "history.csv")
    for kind, column in (("forecast", "validation_loss"), ("actual", "train_loss")):
        heights = points(browser, kind)[:, 1]
        rates = np.diff(heights) / np.diff(history[column])
        np.testing.assert_allclose(rates, rates[0], rtol=0.02)
        assert (rates < 0).all()
    assert browser.complaints() == []
    assert all(url.startswith((site.server.url, "data:")) for url in browser.requests())
    browser.ask("document.querySelector('#runs h2 a').click()")
    browser.wait("document.querySelector('#series svg') !== null")
    browser.ask("document.querySelector('nav a').click()")
    browser.wait("document.querySelector('#runs path.forecast') !== null")
    assert browser.complaints() == []


def test_curves_move_and_new_runs_appear_while_one_looks(browser, site, finished_run):
    browser.open(site.server.url)
    browser.wait("document.querySelectorAll('#runs li').length === 1")
    run = unfinished(finished_run, site.folder / NASTY, epochs=1)
    look_again(browser)
    browser.wait("document.querySelectorAll('#runs li').length === 2")
    assert browser.ask("document.querySelector('#runs h2').textContent") == run.name
    assert "epoch 1 of at most 2" in browser.ask("document.querySelector('#runs .age').textContent")
    assert len(points(browser, "forecast")) == 1
    shutil.copy(finished_run / "history.csv", run)
    look_again(browser)
    browser.wait("document.querySelector('#runs .age').textContent.includes('epoch 2 of at most 2')")
    assert len(points(browser, "forecast")) == 2
    shutil.copytree(finished_run, run, dirs_exist_ok=True)
    (run / "metrics.json").touch()
    look_again(browser)
    browser.wait("document.querySelectorAll('#runs nav').length === 2")
    link = browser.ask("document.querySelector('#runs h2 a').href")
    browser.ask("document.querySelector('#search').value = 'onerror'; "
                "document.querySelector('#search').dispatchEvent(new Event('input'))")  # fmt: skip
    assert browser.ask("Array.from(document.querySelectorAll('#runs li'), (each) => each.hidden)") == [False, True]
    assert browser.complaints() == []
    browser.open(link)
    assert browser.ask("document.querySelector('nav b').textContent") == run.name
    assert browser.complaints() == []


def test_a_server_that_is_gone_is_told(browser, tmp_path):
    with RunsServer(Path(tmp_path)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        browser.open(server.url)
        browser.wait("document.querySelector('#state').textContent.startsWith('No runs yet')")
        server.shutdown()
        thread.join()
    look_again(browser)
    browser.wait("document.querySelector('#state').textContent.startsWith('The server has stopped')")
