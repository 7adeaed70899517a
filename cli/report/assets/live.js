// Keeps a page of `dtctl serve` up to date: asks for the page again, and shows it if it has changed.
'use strict';
(function () {
  const period_ms = 2000;
  let version = document.documentElement.dataset.version;
  let failures = 0;

  function is_busy() {
    const active = document.activeElement;
    return active && ['INPUT', 'TEXTAREA', 'SELECT'].includes(active.tagName);
  }
  // What the reader has chosen: sorted columns, scrolled tables, hidden series.
  function remember() {
    const tables = new Map();
    for (const table of document.querySelectorAll('table[id]')) {
      const head = table.querySelector('th[aria-sort]');
      tables.set(table.id, {
        column: head ? head.dataset.name : null,
        descending: head ? head.getAttribute('aria-sort') === 'descending' : false,
      });
    }
    const boxes = Array.from(document.querySelectorAll('pre, .scroll'), (box) => [box.scrollLeft, box.scrollTop]);
    return { tables, boxes, hidden: dtctl_charts.hidden_series(), focus: document.activeElement && document.activeElement.id };
  }
  function restore(state) {
    for (const [id, table] of state.tables) {
      const place = document.getElementById(id);
      if (!place) continue;
      const head = Array.from(place.tHead.rows[0].cells).find((cell) => cell.dataset.name === table.column);
      if (head) dtctl_page.sort(place, head.cellIndex, table.descending);
    }
    document.querySelectorAll('pre, .scroll').forEach((box, index) => {
      if (index < state.boxes.length) [box.scrollLeft, box.scrollTop] = state.boxes[index];
    });
    dtctl_charts.hide_series(state.hidden);
    const focus = state.focus && document.getElementById(state.focus);
    if (focus) focus.focus({ preventScroll: true });
  }
  function show(text) {
    const answer = new DOMParser().parseFromString(text, 'text/html');
    const fresh = answer.getElementById('page');
    if (!fresh || answer.documentElement.dataset.version === version) return;
    const state = remember();
    document.getElementById('page').replaceWith(document.adoptNode(fresh));
    version = answer.documentElement.dataset.version;
    dtctl_charts.draw_all();
    restore(state);
  }
  function tell(failed) {
    failures = failed ? failures + 1 : 0;
    document.documentElement.classList.toggle('offline', failures > 1);
  }
  async function look() {
    if (document.hidden || is_busy() || document.documentElement.dataset.still) return;
    try {
      const answer = await fetch(location.href, { headers: { 'If-None-Match': '"' + version + '"' }, cache: 'no-store' });
      tell(!answer.ok && answer.status !== 304);
      if (answer.status === 200) show(await answer.text());
    } catch (error) {
      tell(true);
    }
  }
  async function keep_looking() {
    await look();
    setTimeout(keep_looking, period_ms);
  }
  setTimeout(keep_looking, period_ms);
})();
