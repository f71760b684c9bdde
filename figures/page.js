// Draws the charts described in `charts` into the elements that carry their key, and
// loads echarts first if need be, from the first of `sources` that answers. Until then,
// and if none does, the elements keep the static pictures they come with.
(function (charts, sources) {
  "use strict";

  // The band of an interval: one polygon along the lower ends and back along the upper.
  function band(params, api) {
    if (params.context.drawn) return;
    params.context.drawn = true;
    var there = [], back = [];
    for (var i = 0; i < params.dataInsideLength; i++) {
      var x = api.value(0, i);
      there.push(api.coord([x, api.value(1, i)]));
      back.unshift(api.coord([x, api.value(2, i)]));
    }
    var lone = there.length === 1;
    return {
      type: "polygon",
      shape: { points: there.concat(back) },
      style: { fill: api.visual("color"), stroke: lone ? api.visual("color") : "none", lineWidth: lone ? 8 : 0, opacity: 0.18 },
    };
  }

  // The text of a point lies in its name, ready to show; bands and reference lines have none.
  function tooltip(xlabel) {
    return function (items) {
      var lines = items.filter(function (p) { return p.name; })
        .map(function (p) { return p.marker + p.name; });
      return lines.length ? xlabel + " = " + items[0].axisValue + "<br>" + lines.join("<br>") : "";
    };
  }

  function drawOne(chart, element) {
    var picture = element.innerHTML;
    element.setAttribute("data-drawn", "yes");
    element.innerHTML = "";
    element.style.height = "520px";
    try {
      var option = JSON.parse(JSON.stringify(chart.option));
      option.series.forEach(function (s) {
        if (s.type !== "custom") return;
        s.renderItem = band;
        s.clip = true;
        s.silent = true;
        s.z = 1;
      });
      option.tooltip.formatter = tooltip(chart.xlabel);
      option.tooltip.confine = true;
      var drawing = window.echarts.init(element, null, { renderer: "svg" });
      drawing.setOption(option);
      if (window.ResizeObserver) new ResizeObserver(function () { drawing.resize(); }).observe(element);
    } catch (problem) {
      element.style.height = "";
      element.innerHTML = picture;
      if (window.console) console.error("cannot draw " + chart.key, problem);
    }
  }

  function draw() {
    charts.forEach(function (chart) {
      document.querySelectorAll('[data-chart="' + chart.key + '"]:not([data-drawn])')
        .forEach(function (element) { drawOne(chart, element); });
    });
  }

  function load(i) {
    if (window.echarts) return draw();
    if (i >= sources.length) {
      document.querySelectorAll("[data-offline]").forEach(function (note) { note.style.fontWeight = "bold"; });
      return;
    }
    var script = document.createElement("script");
    script.src = sources[i];
    script.onload = function () { window.echarts ? draw() : load(i + 1); };
    script.onerror = function () { load(i + 1); };
    document.head.appendChild(script);
  }
  load(0);
})
