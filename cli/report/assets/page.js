// What a page does besides charts: the theme, sorting and downloading tables, printing. Without JavaScript the page still has its
// sentences and tables.
'use strict';
(function () {
  const root = document.documentElement;
  root.classList.add('js');

  function save(name, text) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function value_of(cell) {
    return cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent;
  }
  // Numbers by value, texts in natural order, cells without a value last.
  function compare(a, b) {
    if (a === '' || b === '') return (a === '') - (b === '');
    const left = Number(a), right = Number(b);
    if (!isNaN(left) && !isNaN(right)) return left - right;
    return a.localeCompare(b, 'en', { numeric: true });
  }
  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const at = (row) => value_of(row.cells[column]);
    rows.sort((a, b) => {
      const order = compare(at(a), at(b));
      return at(a) === '' || at(b) === '' ? order : descending ? -order : order;
    });
    body.append(...rows);
    Array.from(table.tHead.rows[0].cells).forEach((head, index) => {
      if (index === column) head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
  }
  function table_csv(table) {
    const quoted = (text) => dtctl_charts.csv_text(text);
    const line = (cells, text) => Array.from(cells).map((cell) => quoted(text(cell))).join(',');
    const rows = [line(table.tHead.rows[0].cells, (cell) => cell.dataset.name)];
    for (const row of table.tBodies[0].rows) rows.push(line(row.cells, value_of));
    return rows.join('\n') + '\n';
  }

  function click(event) {
    const button = event.target.closest('button');
    if (!button) return;
    if (button.dataset.sort !== undefined) {
      const head = button.closest('th');
      sort(button.closest('table'), head.cellIndex, head.getAttribute('aria-sort') === 'ascending');
    } else if (button.dataset.table !== undefined) {
      save(button.dataset.table + '.csv', table_csv(document.getElementById('table-' + button.dataset.table)));
    } else if (button.dataset.chart !== undefined) {
      save(button.dataset.chart + '.csv', dtctl_charts.csv_of(button.dataset.chart));
    } else if (button.id === 'theme') {
      const is_dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
      root.dataset.theme = is_dark ? 'light' : 'dark';
      dtctl_charts.draw_all();
    } else if (button.id === 'print') {
      print();
    }
  }

  window.dtctl_page = { sort };
  document.addEventListener('click', click);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dtctl_charts.draw_all());
  matchMedia('print').addEventListener('change', () => dtctl_charts.draw_all());
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    dtctl_charts.draw_all();
  });
  dtctl_charts.draw_all();
})();
