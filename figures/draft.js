// The page of a draft reloads itself, unless the pointer is on a chart. The program renews the file's time while it
// computes: a page whose file is older than a minute says that the program has ended, and stays as it is.
(function () {
  "use strict";
  if (Date.now() - Date.parse(document.lastModified) < 60000) {
    setInterval(function () {
      if (!document.querySelector("[data-chart]:hover")) { location.reload(); }
    }, 5000);
    return;
  }
  document.querySelectorAll("#draft [data-running]").forEach(function (part) { part.hidden = true; });
  document.querySelectorAll("#draft [data-ended]").forEach(function (part) { part.hidden = false; });
})();
