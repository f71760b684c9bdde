// Draws the charts described in `charts` into the elements that carry their key. If echarts is
// not loaded yet, it comes from the first of `sources` that answers: an address, or an object
// with the address as src and the script's integrity. Until then, and if none answers, the
// static pictures stay.
// {base} in a source is Jupyter's base URL; such a source is skipped on other pages, and
// those of `elsewhere` are tried on pages without Jupyter only.
// `dress`, if given, returns a chart's option for the page's present width and colours; its `drawn` is called once all
// charts are drawn, with what draws one more.
(function (charts, sources, elsewhere, dress) {
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
    var lone = there.length === 1, color = api.visual("color");
    return {
      type: "polygon",
      shape: { points: there.concat(back) },
      style: { fill: color, stroke: lone ? color : "none", lineWidth: lone ? 8 : 0, opacity: 0.18 },
    };
  }

  // The text of a point is its name; bands and reference lines have none. What follows a line's end in it is for large
  // charts.
  function tooltip(xlabel, large) {
    return function (items) {
      var lines = items.filter(function (p) { return p.name; }).map(function (p) {
        var text = p.name.split("\n");
        return p.marker + text[0] + (large && text[1] ? "<br><small>" + text[1] + "</small>" : "");
      });
      return lines.length ? xlabel + " = " + items[0].axisValue + "<br>" + lines.join("<br>") : "";
    };
  }

  // The labels of an axis of numbers: multiples of a round step alone, as its ends would collide with their neighbours,
  // and whole numbers where all are.
  function labels(drawing, whole) {
    return function (value) {
      var ends = drawing.getModel().getComponent("xAxis").axis.scale.getExtent();
      var power = Math.pow(10, Math.floor(Math.log10((ends[1] - ends[0]) / 5)));
      var size = (ends[1] - ends[0]) / 5 / power;
      var step = power * (size < 1.5 ? 1 : size < 2.5 ? 2 : size < 4 ? 3 : size < 7 ? 5 : 10);
      if (whole) step = Math.max(1, step);
      var count = Math.round(value / step);
      return Math.abs(count * step - value) < 1e-6 * step ? String(+(count * step).toPrecision(10)) : "";
    };
  }

  // The place of a tooltip that covers the fewest points of the lines, and of those the one closest to the mouse.
  function clear(drawing) {
    return function (mouse, items, box, rect, size) {
      var w = size.contentSize[0], h = size.contentSize[1], wide = size.viewSize[0], high = size.viewSize[1];
      var points = [];
      drawing.getOption().series.forEach(function (s, i) {
        var last;
        if (s.type === "line") s.data.forEach(function (d) {
          var at = drawing.convertToPixel({ seriesIndex: i }, d.value);
          for (var k = 1; last && k <= 8; k++) {
            points.push([last[0] + (at[0] - last[0]) * k / 8, last[1] + (at[1] - last[1]) * k / 8]);
          }
          points.push(last = at);
        });
      });
      var best, least = Infinity;
      [mouse[0] + 20, mouse[0] - w - 20, wide - w - 30, 75].forEach(function (x) {
        [mouse[1] - h / 2, 60, high - h - 95, high - h].forEach(function (y) {
          if (x < 0 || x + w > wide || y < 0 || y + h > high) return;
          var covered = points.filter(function (p) { return p[0] > x && p[0] < x + w && p[1] > y && p[1] < y + h; });
          var cost = covered.length + Math.hypot(x + w / 2 - mouse[0], y + h / 2 - mouse[1]) / 1e4;
          if (cost < least) { least = cost; best = [x, y]; }
        });
      });
      return best || [0, 0];
    };
  }

  // The text of a cell of a heat map: its column, row and value with their labels.
  function cell(option) {
    return function (item) {
      var at = item.value, names = option.series[0].dimensions;
      return [option.xAxis[0].data[at[0]], option.yAxis[0].data[at[1]], at[2]].map(function (value, i) {
        return window.echarts.format.encodeHTML(names[i] + ": " + value);
      }).join("<br>");
    };
  }

  // In a notebook cell the chart comes with title and notes, because the static picture in
  // the output before it has its own. That output is hidden once the chart is drawn.
  function frame(chart, element) {
    var picture = element.closest(".jp-OutputArea-child, .output_area");
    picture = picture && picture.previousElementSibling;
    if (picture && picture.querySelector(".jp-RenderedImage img, .output_png img")) picture.style.display = "none";
    var around = document.createElement("div");
    around.style.cssText = "background:#fff;color:#222;padding:8px";
    element.parentNode.insertBefore(around, element);
    around.appendChild(document.createElement("b")).textContent = chart.title;
    around.appendChild(element);
    around.appendChild(document.createElement("small")).textContent = chart.notes;
  }

  function drawOne(chart, element) {
    var picture = element.innerHTML;
    element.setAttribute("data-drawn", "yes");
    element.innerHTML = "";
    element.style.height = "520px";
    try {
      var option = JSON.parse(JSON.stringify(chart.option));
      option.series.forEach(function (s) {
        if (s.lineStyle) s.lineStyle.type = s.lineStyle.type ? s.lineStyle.type.split(" ").map(Number) : "solid";
        if (s.type !== "custom") return;
        s.renderItem = band;
        s.clip = true;
        s.silent = true;
        s.z = 1;
      });
      option.tooltip.formatter = option.series[0].type === "heatmap" ? cell(option) : tooltip(chart.xlabel, element.closest("dialog"));
      option.tooltip.confine = true;
      var drawing = window.echarts.init(element, null, { renderer: "svg" });
      if (option.series[0].type !== "heatmap") option.tooltip.position = clear(drawing);
      option.xAxis.forEach(function (axis) {
        if (axis.type === "value") axis.axisLabel.formatter = labels(drawing, axis.minInterval);
      });
      var show = function () { drawing.setOption(dress ? dress(option, element) : option); };
      show();
      if (chart.title) frame(chart, element);
      drawing.resize();
      if (window.ResizeObserver) {
        new ResizeObserver(function () {
          drawing.resize();
          if (dress) show();
        }).observe(element);
      }
      if (dress) window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    } catch (problem) {
      element.setAttribute("data-drawn", "no");
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
    if (dress && dress.drawn) dress.drawn(charts, drawOne);
  }

  function addresses() {
    var config = document.getElementById("jupyter-config-data");
    if (!config) return sources.filter(function (s) { return (s.src || s).indexOf("{base}") < 0; }).concat(elsewhere);
    var base = JSON.parse(config.textContent).baseUrl || "/";
    return sources.map(function (s) { return s.replace("{base}", base); });
  }

  // Another chart on the page may be loading the same script already. The AMD loader of a
  // page, such as nbconvert's, must not take echarts, which would then not be global.
  function load(from) {
    if (window.echarts) return draw();
    if (!from.length) {
      document.querySelectorAll("[data-offline]").forEach(function (note) { note.hidden = false; });
      return;
    }
    var src = from[0].src || from[0];
    var script = document.querySelector('script[src="' + src + '"]');
    if (!script) {
      script = document.createElement("script");
      if (from[0].integrity) {
        script.integrity = from[0].integrity;
        script.crossOrigin = "anonymous";
      }
      script.src = src;
      var amd = window.define && window.define.amd;
      if (amd) window.define.amd = undefined;
      script.addEventListener("load", function () { if (amd) window.define.amd = amd; });
      script.addEventListener("error", function () { if (amd) window.define.amd = amd; script.remove(); });
      document.head.appendChild(script);
    }
    script.addEventListener("load", function () { window.echarts ? draw() : load(from.slice(1)); });
    script.addEventListener("error", function () { load(from.slice(1)); });
  }
  load(addresses());
})
