// What only a figure's page does: its value is the `dress` of chart.js.
(function () {
  "use strict";

  // A button copies the text of the element that it names. Where the browser refuses the
  // clipboard, the text is selected, ready for Ctrl+C.
  document.querySelectorAll("button[data-copy]").forEach(function (button) {
    var text = document.getElementById(button.getAttribute("data-copy"));
    var status = document.getElementById(button.getAttribute("aria-describedby"));
    function select() {
      var range = document.createRange();
      range.selectNodeContents(text);
      var selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      var copied = false;
      try { copied = document.execCommand("copy"); } catch (refused) { /* it stays selected */ }
      status.textContent = copied ? "Copied." : "Selected: press Ctrl+C to copy.";
    }
    button.hidden = false;
    button.addEventListener("click", function () {
      if (!navigator.clipboard) return select();
      navigator.clipboard.writeText(text.textContent).then(function () { status.textContent = "Copied."; }, select);
    });
  });

  function width(text) {
    var pen = width.pen = width.pen || document.createElement("canvas").getContext("2d");
    pen.font = "12px sans-serif";
    return pen.measureText(text).width;
  }

  // The number of rows of a legend in so many pixels: each entry has a sample of 34, a gap of
  // 5 and a space of 10.
  function rows(labels, room) {
    var count = 1, used = 0;
    labels.forEach(function (label) {
      var needed = 49 + width(label);
      if (used > 0 && used + needed > room) {
        count++;
        used = 0;
      }
      used += needed;
    });
    return count;
  }

  function dress(option, element) {
    // Small charts share the page's legend; a page that opens no large ones has none.
    var grid = document.getElementById("large") && element.closest(".grid");
    var single = grid && grid.classList.contains("panels-1");
    var style = getComputedStyle(document.documentElement);
    function tone(name) { return style.getPropertyValue(name).trim(); }
    var ink = tone("--ink"), faint = tone("--faint"), paper = tone("--paper"), rule = tone("--grid");

    option.series.forEach(function (s) {
      if (s.type === "heatmap") return;
      s.paint = s.paint || s.color;
      s.color = tone("--c-" + s.paint.slice(1).toLowerCase()) || s.paint;
      if (s.lineStyle) s.lineStyle.color = s.color;
      s.itemStyle.color = s.color;
    });
    option.textStyle = { color: ink };
    option.tooltip.backgroundColor = paper;
    option.tooltip.borderColor = faint;
    option.tooltip.textStyle = { color: ink };
    option.tooltip.extraCssText = "max-width:90%;white-space:normal";

    var narrow = element.clientWidth < 600;
    element.style.height = grid && !single ? "290px" : narrow ? "420px" : "520px";
    option.xAxis.concat(option.yAxis).forEach(function (axis) {
      axis.nameTextStyle = { color: ink };
      axis.axisLabel = Object.assign(axis.axisLabel || {}, { color: ink });
      axis.axisLine = Object.assign(axis.axisLine || {}, { lineStyle: { color: faint } });
      axis.axisTick = { lineStyle: { color: faint } };
      axis.splitLine = Object.assign(axis.splitLine || {}, { lineStyle: { color: rule } });
    });
    var names = option.yAxis[0].type === "category" ? 22 : 0; // of blocks are longer than numbers
    option.yAxis.forEach(function (axis) { axis.nameGap = names + (narrow ? 56 : 62); });
    var left = names + (narrow ? 74 : 84), right = narrow ? 22 : 30, edge = narrow ? 0 : left;
    var legend = option.legend;
    legend.textStyle = { color: ink };
    legend.inactiveColor = faint;
    legend.left = edge;
    legend.right = narrow ? 0 : right;
    var lines = rows(legend.data, element.clientWidth - edge - legend.right - 10);
    var margins = { left: left, right: right, top: Math.max(40, 18 + 24 * lines) };
    if (grid) {
      legend.show = false;
      option.dataZoom = [];
      option.xAxis.forEach(function (axis) { axis.nameGap = 24; });
      option.yAxis.forEach(function (axis) { axis.nameTruncate = { maxWidth: 230 }; });
      margins.top = "12px";
      margins.bottom = "44px";
    }
    option.grid = [].concat(option.grid).map(function (place) { return Object.assign(place, margins); });
    [].concat(option.visualMap || []).forEach(function (scale) { scale.textStyle = { color: ink }; });
    option.dataZoom.forEach(function (zoom) {
      zoom.textStyle = { color: ink };
      zoom.borderColor = rule;
    });
    return option;
  }

  // A panel of the grid opens as a large chart, with legend and zoom, by its button or a click.
  dress.drawn = function (charts, draw) {
    var dialog = document.getElementById("large");
    if (!dialog || !dialog.showModal) return;
    function open(chart, panel) {
      var place = dialog.querySelector(".live"), fresh = document.createElement("div");
      fresh.className = "live";
      place.replaceWith(fresh);
      dialog.querySelector("h2").textContent = panel.querySelector("h2").firstChild.textContent;
      dialog.showModal();
      draw(chart, fresh);
    }
    charts.forEach(function (chart) {
      var button = document.querySelector('[data-large="' + chart.key + '"]');
      if (!button) return;
      var panel = button.closest(".panel"), show = function () { open(chart, panel); };
      button.hidden = false;
      button.addEventListener("click", show);
      panel.querySelector(".live").addEventListener("click", show);
    });
  };

  return dress;
})()
