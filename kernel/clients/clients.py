"""Runs clients of Jupyter with the installed kernel: `python clients.py CLIENT...`, or all.

For each it prints the client, its version and what passes, separated by tabs, or ends with the first failure.
clients_test.go runs it; requirements.txt has the versions.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from importlib.metadata import version

from jupyter_client.manager import start_new_kernel

COMPILE = '%%\nvar x int = "a"\nfmt.Println(x)'
REASON = 'cannot use "a" (untyped string constant) as int value in variable declaration (cell [1], line 2)'


def notebook(folder, *sources, name="in.ipynb", tags=()):
    cells = [{"cell_type": "code", "id": f"c{i}", "execution_count": None, "outputs": [], "source": source,
              "metadata": {"tags": list(tags) if i == 0 else []}} for i, source in enumerate(sources)]
    kernel = {"name": "tvps", "display_name": "Go (tvps)", "language": "go"}
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        json.dump({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, f)
    return path


def run(*command, code=0, env=None, stdin=""):
    """Runs a program of this environment and returns all that it prints."""
    command = [os.path.join(os.path.dirname(sys.executable), command[0]), *command[1:]]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=600, env=env)
    text = done.stdout + done.stderr
    assert code is None or done.returncode == code, f"{command} ended with {done.returncode}:\n{text}"
    return text


def has(text, *words):
    for word in words:
        assert word in text, f"no {word!r} in:\n{text}"


def processes(mark):
    """Commands of the processes that have the mark in their environment: none where the system does not tell it."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{path}/environ", "rb") as environ, open(f"{path}/cmdline", "rb") as command:
                if mark.encode() in environ.read():
                    found.append(command.read().decode().replace("\0", " "))
        except OSError:
            pass
    return found


def jupyter_client():
    mark = f"TVPS_CLIENTS={os.getpid()}"
    tmp = tempfile.mkdtemp()
    km, kc = start_new_kernel(kernel_name="tvps", env={**os.environ, "TVPS_CLIENTS": str(os.getpid()), "TMPDIR": tmp})

    def ask(method, *args, limit=60, **options):
        """Sends a request and returns its reply and what is published."""
        id_, published = getattr(kc, method)(*args, **options), []
        while (reply := kc.get_shell_msg(timeout=limit))["parent_header"].get("msg_id") != id_:
            pass
        while True:
            m = kc.get_iopub_msg(timeout=limit)
            if m["parent_header"].get("msg_id") == id_:
                if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
                    return reply["content"], published
                if m["msg_type"] not in ("status", "execute_input"):
                    published.append(m)

    # No request for gopls holds up a cell while gopls starts, nor does a cell without a name.
    for code, pos in [(" ", 0), ("", 0), ("\n", 1), ("x, y", 1), ("!ls\n ", 4)]:
        assert ask("inspect", code, pos)[0]["found"] is False, code
    code = "import \"fmt\"\n%%\nfmt.Printl"
    assert ask("complete", code, len(code), limit=5)[0]["matches"] == []
    reply, published = ask("execute", "!cat; read x; echo end")
    assert [m["content"]["text"] for m in published] == ["end\n"], published
    _, published = ask("execute", "import (\n\"io\"\n\"os\"\n)\nvar in = bufio.NewReader(os.Stdin)\n%%\n"
                       "text, err := io.ReadAll(in)\nfmt.Println(len(text), err)")
    has("".join(m["content"]["text"] for m in published), "gonbui.RequestInput", "0 <nil>")
    reply, published = ask("execute", "%%\nfmt.Fprintln(os.Stderr, \"warned\")\npanic(\"boom\")")
    assert reply["evalue"] == "panic: boom", reply
    assert [m["msg_type"] for m in published] == ["stream", "error"], published
    assert published[1]["content"]["traceback"] == reply["traceback"] and "main.main()" in reply["traceback"], reply
    reply, _ = ask("execute", "import \"fmt\"\r\n%%\r\nfmt.Println(1)")
    assert reply["status"] == "ok", reply
    reply, _ = ask("execute", "?strings.Repeat")
    has(reply["payload"][0]["data"]["text/markdown"], "func strings.Repeat(s string, count int) string")
    end = time.time() + 300
    while "Println" not in ask("complete", code, len(code))[0]["matches"]:
        assert time.time() < end, "gopls does not answer"
        time.sleep(1)
    assert ask("inspect", "%%\nfmt.Nonsense()", 10)[0]["found"] is False
    # An error ends what was sent with its cell, an interrupt what runs.
    ids = [kc.execute(code) for code in ("%%\nx", "!echo 1", "%%\nfmt.Println(2)")]
    statuses = [kc.get_shell_msg(timeout=60) for _ in ids]
    assert [(m["parent_header"]["msg_id"], m["content"]["status"]) for m in statuses] == list(
        zip(ids, ["error", "aborted", "aborted"])), statuses
    for code in ("!sleep 300; echo done", "%%bash\nsleep 300", "!cd /tmp && sleep 300 | tee -a /dev/null"):
        kc.execute(code)
        while sys.platform == "linux" and not any(command.startswith("sleep 300") for command in processes(mark)):
            time.sleep(0.1)
        km.interrupt_kernel()
        reply = kc.get_shell_msg(timeout=20)["content"]
        assert (reply["status"], reply["ename"]) == ("error", "Interrupted"), reply
    kc.execute('import "tvps/gomlx_models/propensity"\n%%\nfmt.Println(propensity.DefaultConfig())')
    while sys.platform == "linux" and not any("/tool/" in command for command in processes(mark)):
        time.sleep(0.01)  # a compiler or the linker
    km.interrupt_kernel()
    reply = kc.get_shell_msg(timeout=20)["content"]
    assert (reply["status"], reply["ename"]) == ("error", "Interrupted"), reply
    assert ask("execute", "%%bash\nset -e\nfalse")[0]["evalue"] == "exit status 1"
    m = kc.session.msg("kernel_info_request", {})
    kc.control_channel.send(m)
    assert kc.get_control_msg(timeout=20)["parent_header"]["msg_id"] == m["header"]["msg_id"]
    kc.execute("%%\nfor { time.Sleep(time.Second) }")
    while sys.platform == "linux" and not any("/gonb_" in command and "gopls" not in command for command in processes(mark)):
        time.sleep(0.1)
    kc.stop_channels()
    km.shutdown_kernel(now=True)
    end = time.time() + 20
    while left := processes(mark) + os.listdir(tmp):
        assert time.time() < end, f"left after a kill: {left}"
        time.sleep(0.1)
    os.rmdir(tmp)
    return "errors, interrupts, standard input, inspection, completion, pages; nothing is left after `shutdown_kernel(now=True)`"


def jupyter_kernel_test():
    import jupyter_kernel_test as jkt

    jkt.TIMEOUT = 60

    class Kernel(jkt.KernelTests):
        kernel_name, language_name, file_extension = "tvps", "go", ".go"
        code_hello_world = '%%\nfmt.Println("hello, world")'
        code_stderr = '%%\nfmt.Fprintln(os.Stderr, "oops")'
        code_generate_error = '%%\npanic("boom")'
        code_page_something = "?strings.Repeat"
        code_inspect_sample = "%%\nfmt.Println"
        code_clear_output = ('import "github.com/janpfeifer/gonb/gonbui/protocol"\n%%\ngonbui.SendData(&protocol.DisplayData{'
                             'Data: map[protocol.MIMEType]any{"application/vnd.tvps.clear+json": false}})\ngonbui.Sync()')
        completion_samples = [{"text": 'import "fmt"\n%%\nfmt.Printl'}, {"text": "%"}]
        complete_code_samples = ["", "x := 1", 'import "fmt"', "x++", "%%\nfmt.Println(1)\n\n", "!ls", "// comment"]
        incomplete_code_samples = ["func f() {", "/* open", "x := `raw", "a +", "%%\nfmt.Println(1)", "%%bash\nls", "!ls \\"]
        invalid_code_samples = ["}", "fmt.Println)", "x := 'ab", "( ]"]
        code_display_data = [
            {"code": f'import "github.com/janpfeifer/gonb/gonbui"\n%%\ngonbui.Display{form}("x")\ngonbui.Sync()', "mime": mime}
            for form, mime in (("HTML", "text/html"), ("Markdown", "text/markdown"))
        ]

        @classmethod
        def setUpClass(cls):
            super().setUpClass()
            code, end = cls.completion_samples[0]["text"], time.time() + 300
            while not cls.kc.complete(code, len(code), reply=True, timeout=60)["content"]["matches"]:
                assert time.time() < end, "gopls does not answer"
                time.sleep(1)

    class Welcome(jkt.IopubWelcomeTests):
        kernel_name, support_iopub_welcome = "tvps", True

    load = unittest.defaultTestLoader.loadTestsFromTestCase
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(
        unittest.TestSuite([load(Kernel), load(Welcome)]))
    skipped = sorted(test.id().rpartition(".")[2] for test, _ in result.skipped)
    assert result.wasSuccessful() and skipped == ["test_execute_result", "test_history"], (result, skipped)
    return f"{result.testsRun - 2} of its {result.testsRun} tests; GoNB has no `execute_result`, on which 2 depend"


def nbclient():
    import nbclient
    import nbformat

    def execute(*sources, **options):
        with tempfile.TemporaryDirectory() as folder:
            nb = nbformat.read(notebook(folder, *sources), 4)
            nbclient.NotebookClient(nb, timeout=300, kernel_name="tvps", **options).execute()
            return nb

    try:
        execute(COMPILE)
        raise AssertionError("a compile error is no error")
    except nbclient.exceptions.CellExecutionError as e:
        assert e.evalue == REASON, e.evalue
        has(str(e), REASON + '\n    var x int = "a"')
    outputs = execute(COMPILE, "%%\nfmt.Println(2)", allow_errors=True).cells
    assert [o["output_type"] for o in outputs[0]["outputs"]] == ["error"], outputs
    assert outputs[1]["outputs"][0]["text"] == "2\n", outputs
    return "one error for each cell that fails, with its reason; `allow_errors`"


def nbconvert():
    with tempfile.TemporaryDirectory() as folder:
        path = notebook(folder, "%%\nfmt.Println(6 * 7)")
        run("jupyter-nbconvert", "--execute", "--to", "notebook", "--inplace", path)  # this adds the language
        run("jupyter-nbconvert", "--to", "html", path)
        with open(os.path.join(folder, "in.html")) as f:
            has(f.read(), '<span class="nx">Println</span>', "42")
    return "`--execute`; Go in Go's colours"


def papermill():
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.ipynb")
        text = run("papermill", notebook(folder, COMPILE), out, code=1)
        has(text, REASON)
    return "the reason of an error; parameters with `./kernel/papermill`"


def jupyter_console():
    # The simple prompt takes cells of one line, and all that the console prints is here.
    text = run("jupyter-console", "--kernel", "tvps", "--simple-prompt", "--no-confirm-exit", stdin='6 * 7\nvar x int = "a"\n')
    text = re.sub(r"(?s)^.*?(?=In \[1\])", "", text)
    reason = 'cannot use "a" (untyped string constant) as int value in variable declaration (cell [2], line 1)'
    want = ["In [1]: 42", "In [2]:", "In [3]: Shutting down kernel", reason, 'var x int = "a"']
    assert [line.strip() for line in text.splitlines() if line.strip()] == want, text
    return "cells; the reason of an error, and nothing else"


def nbval():
    with tempfile.TemporaryDirectory() as folder:
        notebook(folder, "%%\nfmt.Println(6 * 7)", 'import "github.com/janpfeifer/gonb/gonbui"\n%%\ngonbui.DisplayHTML("x")\ngonbui.Sync()')
        run("jupyter-nbconvert", "--execute", "--to", "notebook", "--inplace", os.path.join(folder, "in.ipynb"))
        has(run("pytest", "--nbval", "-p", "no:cacheprovider", folder), "2 passed")
    return "notebooks with execution counts, without outputs that are updated"


def jupyter_kernel_gateway():
    import asyncio
    import uuid

    from tornado.httpclient import AsyncHTTPClient
    from tornado.websocket import websocket_connect

    port = 18000 + os.getpid() % 10000
    env = {name: value for name, value in os.environ.items() if name not in ("HOME", "TVPS_CACHE", "GOCACHE", "GOPATH")}
    program = os.path.join(os.path.dirname(sys.executable), "jupyter-kernelgateway")
    server = subprocess.Popen([program, f"--KernelGatewayApp.port={port}", "--KernelGatewayApp.ip=127.0.0.1"], env=env)

    async def session():
        address = f"127.0.0.1:{port}/api/kernels"
        for _ in range(300):
            try:
                reply = await AsyncHTTPClient().fetch(f"http://{address}", method="POST", body='{"name": "tvps"}')
                break
            except OSError:
                await asyncio.sleep(0.2)
        ws = await websocket_connect(f"ws://{address}/{json.loads(reply.body)['id']}/channels")
        id_, text = uuid.uuid4().hex, ""
        code = ('import "tvps/data/artifact"\n%%\ndir, err := artifact.CacheDir()\nfmt.Println(dir, err)\n'
                'home, err := os.UserHomeDir()\nfmt.Println(home, err)')
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        header = {"msg_id": id_, "username": "", "session": "s", "msg_type": "execute_request", "version": "5.3", "date": ""}
        await ws.write_message(json.dumps({"header": header, "parent_header": {}, "metadata": {}, "channel": "shell",
                                           "content": content}))
        while True:
            m = json.loads(await asyncio.wait_for(ws.read_message(), 300))
            if m["parent_header"].get("msg_id") == id_:
                text += m["content"].get("text", "") + "".join(m["content"].get("traceback", []))
                if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
                    return text

    try:
        text = asyncio.run(session())
    finally:
        server.terminate()
        server.wait()
    lines = text.splitlines()
    assert len(lines) == 2 and all(line.startswith("/") and line.endswith(" <nil>") for line in lines), text
    return "cells without HOME and TVPS_CACHE"


CLIENTS = [jupyter_client, jupyter_kernel_test, nbclient, nbconvert, papermill, jupyter_console, nbval,
           jupyter_kernel_gateway]

if __name__ == "__main__":
    for client in CLIENTS:
        if client.__name__ in sys.argv[1:] or len(sys.argv) == 1:
            passes = client()
            print(client.__name__, version(client.__name__), passes, sep="\t", flush=True)
