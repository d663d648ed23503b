"""The server of the page: who is let in, and that nobody who looks can hold anything up."""

import http.client
import json
import socket
import threading

import pytest

import optimist as opt
from optimist.live import Feed, Frame, StudySource, open_page

GRID = opt.envs.GridWorld()


@pytest.fixture(scope="module")
def shown():
    """A page of a run that has ended."""
    with open_page() as page:
        opt.Optimist(GRID, seed=0).learn(20, live=page.feed, show_progress=False)
        yield page


def token(page):
    return page.address.split("/")[3]


def ask(page, path="", method="GET", body=None, **headers):
    """The status, the headers and the body of an answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=60)
    connection.request(method, f"/{token(page)}/{path}", body, named)
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read()
    connection.close()
    return found


def control(page, what, **headers):
    origin = {"Origin": f"http://127.0.0.1:{page.port}", "Content_Type": "application/json"}
    return ask(page, "control", "POST", json.dumps(what), **{**origin, **headers})


class Stream:
    """A viewer without a browser."""

    def __init__(self, page, after="", **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request("GET", f"/{token(page)}/events?after={after or 0}", headers=named)
        self.answer = self.connection.getresponse()

    def events(self, frames):
        """The events until so many frames have come: their names and ids, and what they hold."""
        found = []
        while sum(name == "message" for name, *_ in found) < frames:
            name, number, data = "message", None, None
            while line := self.answer.readline().decode().rstrip("\n"):
                kind, _, value = line.partition(": ")
                if kind == "event":
                    name = value
                elif kind == "id":
                    number = int(value)
                elif kind == "data":
                    data = json.loads(value)
            if data is not None:
                found.append((name, number, data))
        return found

    def frames(self, n):
        return [(number, data) for name, number, data in self.events(n) if name == "message"]

    def close(self):
        self.connection.close()


def test_the_page_is_served_at_its_address_only(shown):
    status, headers, body = ask(shown)
    assert status == 200
    assert b'<script type="module" src="live.js">' in body
    for name in ("live.js", "live.css"):
        assert ask(shown, name)[0] == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/events", "/live.js", "/%74/", "/%C3%B6/"])
def test_without_the_token_there_is_nothing(shown, path):
    connection = http.client.HTTPConnection("127.0.0.1", shown.port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    connection.close()
    assert answer.status == 404
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "[::"])
def test_other_hosts_are_refused(shown, host):
    assert ask(shown, Host=host.format(port=shown.port))[0] == 421


def test_the_names_of_this_machine_are_hosts(shown):
    for host in (f"localhost:{shown.port}", f"127.0.0.1:{shown.port}", f"[::1]:{shown.port}"):
        assert ask(shown, Host=host)[0] == 200


def test_other_origins_see_and_control_nothing(shown):
    assert ask(shown, "events", Origin="http://evil.example")[0] == 403
    assert control(shown, {"hold": True}, Origin="http://evil.example")[0] == 403
    assert control(shown, {"hold": True}, Origin="null")[0] == 403
    assert ask(shown, "control", "POST", '{"hold": true}')[0] == 403
    assert not shown.feed.held


def test_controls_are_checked(shown):
    assert control(shown, {"hold": True}, Content_Type="text/plain")[0] == 415
    assert control(shown, {"hold": 1})[0] == 400
    assert control(shown, {"hold": True, "more": 1})[0] == 400
    assert control(shown, "x" * 2000)[0] == 413
    assert ask(shown, "control")[0] == 405
    assert ask(shown, "control?run=other", "POST", "{}", Origin=f"http://127.0.0.1:{shown.port}")[0]
    assert not shown.feed.held
    assert json.loads(control(shown, {"hold": True})[2]) == {"held": True}
    assert shown.feed.held
    assert json.loads(control(shown, {"hold": False})[2]) == {"held": False}


def test_there_is_no_other_run(shown):
    assert ask(shown, "events?run=other")[0] == 404


def test_a_stream_sends_the_status_and_then_the_frames(shown):
    stream = Stream(shown)
    events = stream.events(len(shown.feed.frames))
    stream.close()
    head, status = (next(d for name, _, d in events if name == n) for n in ("head", "status"))
    assert head["title"] == "Optimist in GridWorld"
    assert head["picture"]["board"][0] == "s...."
    assert (status["state"], status["done"], status["controls"]) == ("ended", 20, True)
    frames = [data for name, _, data in events if name == "message"]
    assert [f["episodes"] for f in frames] == [f.episodes for f in shown.feed.frames]


@pytest.mark.parametrize("how", ["header", "query"])
def test_a_stream_goes_on_where_it_was(shown, how):
    told = {"Last_Event_ID": "5"} if how == "header" else {"after": "5"}
    stream = Stream(shown, **told)
    assert stream.frames(1)[0][0] == 6
    stream.close()


@pytest.mark.parametrize("after", ["-1", "x", "1e3", "9" * 30])
def test_a_stream_begins_at_a_number(shown, after):
    assert ask(shown, f"events?after={after}")[0] == 400


def test_ten_viewers_share_the_text_of_each_frame_and_a_stalled_one_delays_nobody(monkeypatch):
    made = []
    text = Frame.text
    monkeypatch.setattr(Frame, "text", lambda frame: made.append(frame.episodes) or text(frame))
    with open_page() as page:
        deaf = socket.create_connection(("127.0.0.1", page.port))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        request = f"GET /{token(page)}/events HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n\r\n"
        deaf.sendall(request.encode())
        streams = [Stream(page) for _ in range(10)]
        assert page.opened.wait(60)
        agent = opt.Optimist(opt.envs.Maze(), seed=0)
        agent.learn(150, live=page.feed, show_progress=False)
        n = len(page.feed.frames)
        assert n > 20
        seen = []
        threads = [threading.Thread(target=lambda s=s: seen.append(s.frames(n))) for s in streams]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(seen) == 10
        assert all(found == seen[0] for found in seen)
        assert [data["episodes"] for _, data in seen[0]] == sorted(made)
        assert len(set(made)) == len(made)
        for stream in streams:
            stream.close()
        deaf.close()


def test_a_viewer_that_does_not_read_is_dropped(monkeypatch):
    monkeypatch.setattr("optimist.live.server.PATIENCE_SECONDS", 0.2)
    with open_page() as page:
        for k in range(200):
            page.feed.frames.add(Frame(k, k, picture=b"x" * 30_000))
        page.feed.complete = lambda frame: None
        deaf = socket.create_connection(("127.0.0.1", page.port))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        request = f"GET /{token(page)}/events HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n\r\n"
        deaf.sendall(request.encode())
        assert page.opened.wait(60)
        gone = threading.Event()
        for _ in range(1200):
            if page.feed.viewers == 0 or gone.wait(0.05):
                break
        assert page.feed.viewers == 0
        deaf.close()


def test_a_viewer_that_leaves_is_not_counted(shown):
    stream = Stream(shown)
    stream.frames(1)
    assert shown.feed.viewers == 1
    stream.answer.close()
    stream.close()
    done = threading.Event()
    for _ in range(1200):
        if shown.feed.viewers == 0 or done.wait(0.05):
            break
    assert shown.feed.viewers == 0


def test_a_page_for_other_machines_says_so():
    with open_page(Feed(), host="0.0.0.0") as page:
        assert not page.loopback
        assert ask(page)[0] == 200
        assert ask(page, Host=f"evil.example:{page.port}")[0] == 421


def test_a_page_of_an_agent_stays_with_it(capsys):
    agent = opt.Optimist(GRID, seed=0)
    agent.learn(3, live=True, show_progress=False)
    address = capsys.readouterr().err.split()[1]
    assert address.startswith("http://127.0.0.1:")
    agent.learn(3, live=True, show_progress=False)
    assert capsys.readouterr().err == ""


def test_runs_of_others_are_not_controlled(tmp_path):
    study = opt.Study({"grid": GRID}, {"R-max": opt.Rmax}, 10, seeds=1)
    opt.run(study, tmp_path, jobs=1)
    with open_page(StudySource(tmp_path)) as page:
        assert control(page, {"hold": True})[0] == 403
