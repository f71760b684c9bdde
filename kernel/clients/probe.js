// Functions that the test calls in JupyterLab's page. Each returns plain data.
window.probe = (() => {
  // panel is the notebook, even if nothing has the focus.
  const panel = () =>
    [...window.jupyterapp.shell.widgets("main")].find((w) => w.sessionContext && w.content && w.content.widgets);
  const codeCells = () => panel().content.widgets.filter((c) => c.model.type === "code");
  const outputsOf = (c) => c.model.sharedModel.getOutputs();

  // ready says what is missing until the notebook is open and its kernel is connected; then it returns "".
  function ready() {
    if (!window.jupyterapp) {
      return "JupyterLab is not exposed: it must be version 4 or later, with --LabApp.expose_app_in_browser";
    }
    const p = panel();
    if (!p) return "no notebook is open";
    if (!p.context || !p.context.isReady) return "the notebook is not read yet";
    const session = p.sessionContext.session;
    if (!session || !session.kernel) return "no kernel";
    return session.kernel.connectionStatus === "connected" ? "" : "the kernel is " + session.kernel.connectionStatus;
  }

  function run() {
    window.probeRan = "running";
    window.jupyterapp.shell.activateById(panel().id);
    window.jupyterapp.commands.execute("notebook:run-all-cells").then(
      () => (window.probeRan = "done"), (e) => (window.probeRan = "failed: " + e));
    return true;
  }

  function state() {
    const cells = codeCells();
    const errors = cells.flatMap((c) => outputsOf(c).filter((o) => o.output_type === "error"));
    return {
      ran: window.probeRan,
      kernel: panel().sessionContext.session.kernel.name,
      cells: cells.length,
      executed: cells.filter((c) => c.model.executionCount > 0).length,
      outputs: cells.reduce((n, c) => n + outputsOf(c).length, 0),
      errors: errors.map((o) => o.ename + ": " + o.evalue),
    };
  }

  // chartCells lists the charts: for each, the index of its cell and its position among the charts of the cell.
  function chartCells() {
    const all = [];
    panel().content.widgets.forEach((c, cell) => {
      if (c.model.type !== "code") return;
      let n = 0;
      outputsOf(c).forEach((o) => {
        const html = o.data && o.data["text/html"];
        if (html && [html].flat().join("").includes("data-chart=")) all.push({ cell, place: n++ });
      });
    });
    return all;
  }

  // cell scrolls to a cell: JupyterLab draws only cells near the visible part.
  async function cell(index) {
    const nb = panel().content;
    nb.activeCellIndex = index;
    await nb.scrollToItem(index, "center");
    return nb.widgets[index].isAttached;
  }

  const element = (at) => panel().content.widgets[at.cell].node.querySelectorAll("[data-drawn]")[at.place];

  // chart scrolls to a chart and describes its drawing.
  function chart(at) {
    const e = element(at);
    const drawing = e && window.echarts && window.echarts.getInstanceByDom(e);
    if (!drawing) return null;
    e.scrollIntoView({ block: "center" });
    const svg = e.querySelector("svg");
    const box = e.getBoundingClientRect();
    const series = drawing.getOption().series;
    const isLine = (p) => p.getBBox().width > 100 && p.getAttribute("fill") === "none";
    return {
      x: box.x, y: box.y, width: box.width, height: box.height,
      series: series.map((s) => ({ name: s.name || "", type: s.type, points: (s.data || []).length })),
      drawn: svg ? [...svg.querySelectorAll("path")].filter(isLine).length : 0,
    };
  }

  // spot is a position on the page within the axes of a chart, and the name of the topmost line. The tooltip there is
  // that of the nearest step.
  function spot(at) {
    const e = element(at);
    const drawing = window.echarts.getInstanceByDom(e);
    const series = drawing.getOption().series;
    const index = series.findLastIndex((s) => s.type === "line" && s.data && s.data.length > 1);
    const pixel = (point) => drawing.convertToPixel({ seriesIndex: index }, point.value || point);
    const data = series[index].data;
    const first = pixel(data[0]), last = pixel(data[data.length - 1]);
    const box = e.getBoundingClientRect();
    const between = (axis) => 0.55 * first[axis] + 0.45 * last[axis];
    return { x: box.x + between(0), y: box.y + between(1), name: series[index].name };
  }

  // tooltip is the text of a chart's tooltip; empty if none is shown.
  function tooltip(at) {
    for (const d of element(at).querySelectorAll("div")) {
      const s = getComputedStyle(d);
      const onTop = s.position === "absolute" && s.zIndex > 1000;
      const visible = s.visibility === "visible" && s.opacity > 0.5;
      if (onTop && visible && d.textContent) return d.innerText;
    }
    return "";
  }

  // shownErrors lists the errors that are visible on the page.
  const errorOutputs = '[data-mime-type="application/vnd.jupyter.error"]';
  const shownErrors = () => [...document.querySelectorAll(errorOutputs)].map((e) => e.innerText);

  // controls counts the sliders and lists that a cell shows.
  function controls() {
    return panel().node.querySelectorAll("input[type=range], .jp-OutputArea select").length;
  }

  // choose selects a choice of a list as a user does.
  function choose(number, choice) {
    const list = panel().node.querySelectorAll(".jp-OutputArea select")[number];
    list.selectedIndex = choice;
    list.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  }

  // slide moves a slider as a user does.
  function slide(number, position) {
    const slider = panel().node.querySelectorAll("input[type=range]")[number];
    slider.value = position;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    return true;
  }

  // focus puts the keyboard on a slider or a list.
  function focus(selector) {
    panel().node.querySelector(selector).focus();
    return true;
  }

  // active is the selected cell and its type, and the position of the first slider.
  function active() {
    const nb = panel().content;
    const slider = panel().node.querySelector("input[type=range]");
    return { index: nb.activeCellIndex, type: nb.activeCell.model.type, slider: Number(slider.value) };
  }

  // counts are the execution counts of the code cells; 0 if there is none.
  const counts = () => codeCells().map((c) => c.model.executionCount || 0);

  // lastTexts is the text of all outputs of the last code cell. GoNB's widgets add empty ones.
  function lastTexts() {
    return outputsOf(codeCells().at(-1)).map((o) => [o.data?.["text/plain"] ?? ""].flat().join("")).join("\n");
  }

  async function interrupt() {
    await panel().sessionContext.session.kernel.interrupt();
    return true;
  }

  // edit puts the cursor at the end of a cell.
  async function edit(index) {
    const nb = panel().content;
    nb.activeCellIndex = index;
    await window.jupyterapp.commands.execute("notebook:enter-edit-mode");
    const editor = nb.activeCell.editor;
    editor.setCursorPosition(editor.getPositionAt(nb.activeCell.model.sharedModel.getSource().length));
    editor.focus();
    return true;
  }

  // completions lists the names that are offered.
  const completions = () => [...document.querySelectorAll(".jp-Completer-item .jp-Completer-match")].map((e) => e.innerText);

  // help is the text about the name at the cursor.
  const help = () => document.querySelector(".jp-Tooltip")?.innerText ?? "";

  return { active, choose, counts, edit, focus, completions, help, controls, slide, lastTexts, interrupt, ready, run, state, chartCells, cell, chart, spot, tooltip, shownErrors };
})();
true;
