// Draws the charts of a page with Chart.js. The data stand in <script type="application/json" id="charts">: a list of charts as
// cli/report/html/page.cpp writes them. Nothing is computed here but where to draw.
'use strict';
(function () {
  // Okabe and Ito's palette: people who see no red or no green can tell the colours apart. Marks and dashes tell them apart in grey.
  const palette = {
    light: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#4d4d4d', '#8f7f00'],
    dark: ['#4ba3e0', '#ff8a4c', '#3fcf9f', '#e8a5c8', '#f5b942', '#8fd0f5', '#c0c0c0', '#d8c840'],
  };
  const styles = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot', 'rectRounded', 'cross'];
  const dashes = { measured: [], simulated: [6, 4], predicted: [2, 3], ideal: [8, 3, 2, 3] };
  const drawn = new Map(); // chart by its id

  function theme() {
    const chosen = document.documentElement.dataset.theme;
    if (matchMedia('print').matches) return 'light';
    if (chosen) return chosen;
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  }
  function ink() {
    return theme() === 'dark'
      ? { text: '#d8dee6', grid: '#39424d', page: '#14181d' }
      : { text: '#24292f', grid: '#d9dee4', page: '#ffffff' };
  }
  function colour(series) {
    return series.origin === 'ideal' ? (theme() === 'dark' ? '#9aa4af' : '#6b747d') : palette[theme()][series.colour % 8];
  }
  function faded(hex, share) {
    return hex + Math.round(share * 255).toString(16).padStart(2, '0');
  }

  function number(value) {
    if (value === null || !isFinite(value)) return '-';
    const size = Math.abs(value);
    if (size >= 1e6 || (size > 0 && size < 1e-3)) return value.toExponential(2);
    return Number(value.toPrecision(4)).toLocaleString('en', { maximumFractionDigits: 6 });
  }
  function shown(axis, value) {
    if (value === null || !isFinite(value)) return '-';
    return axis.share ? number(value * 100) + ' %' : number(value);
  }

  // Points are [x, y, low, high, note], and where not all runs of a point count, what stands beside its mark.
  function value_of(point, series, horizontal) {
    const value = series.mark === 'floating' ? [point[2], point[3]] : point[1];
    return horizontal ? { x: value, y: point[0] } : { x: point[0], y: value };
  }
  function in_category(point, chart, series) {
    const category = chart.x.categories[point[0]];
    const value = series.mark === 'floating' ? [point[2], point[3]] : point[1];
    return chart.horizontal ? { x: value, y: category } : { x: category, y: value };
  }

  function line_dataset(chart, series, index) {
    const ink_colour = colour(series);
    const is_hollow = series.origin !== 'measured';
    const few = series.points.length <= 40;
    return {
      label: series.name,
      data: series.points.map((point) => value_of(point, series, false)),
      series: index,
      showLine: series.mark !== 'points',
      borderColor: ink_colour,
      backgroundColor: is_hollow ? ink().page : ink_colour,
      borderDash: dashes[series.origin],
      borderWidth: series.origin === 'ideal' ? 1.5 : 2,
      pointStyle: series.origin === 'ideal' ? 'line' : styles[series.colour % styles.length],
      pointRadius: series.origin === 'ideal' || !few ? 0 : 4.5,
      pointHoverRadius: 6,
      pointHitRadius: 8,
      pointBorderWidth: 2,
      clip: 8,
    };
  }
  // The two edges of a band: the lower one fills up to the upper one.
  function band_datasets(chart, series, index) {
    const has_band = series.points.filter((point) => point[2] !== null && point[3] !== null);
    if (series.mark !== 'band' || has_band.length < 2) return [];
    const edge = (which) => ({
      label: '',
      series: index,
      is_edge: true,
      data: has_band.map((point) => ({ x: point[0], y: point[which] })),
      showLine: true,
      borderWidth: 0,
      pointRadius: 0,
      pointHitRadius: 0,
      pointHoverRadius: 0,
    });
    return [edge(3), Object.assign(edge(2), { fill: '-1', backgroundColor: faded(colour(series), 0.18) })];
  }
  function bar_dataset(chart, series, index) {
    const ink_colour = colour(series);
    return {
      label: series.name,
      data: series.points.map((point) => in_category(point, chart, series)),
      series: index,
      grouped: series.mark !== 'floating' && !chart.stacked,
      backgroundColor: series.origin === 'simulated' ? faded(ink_colour, 0.2) : faded(ink_colour, 0.85),
      borderColor: ink_colour,
      borderWidth: series.origin === 'simulated' ? 1.5 : 0,
      borderSkipped: false,
      maxBarThickness: 34,
      categoryPercentage: 0.8,
    };
  }
  function datasets(chart) {
    const all = [];
    chart.series.forEach((series, index) => {
      if (series.mark === 'bar' || series.mark === 'floating') {
        all.push(bar_dataset(chart, series, index));
        return;
      }
      all.push(...band_datasets(chart, series, index), line_dataset(chart, series, index));
    });
    return all;
  }

  // Error bars: lines from low to high through the points of lines, points and bars.
  const error_bars = {
    id: 'error_bars',
    afterDatasetsDraw(drawing) {
      const chart = drawing.options.plugins.error_bars.chart;
      const context = drawing.ctx;
      drawing.data.datasets.forEach((dataset, index) => {
        const series = chart.series[dataset.series];
        if (dataset.is_edge || series.mark === 'band' || series.mark === 'floating' || !drawing.isDatasetVisible(index)) return;
        const scale = chart.horizontal ? drawing.scales.x : drawing.scales.y;
        context.save();
        context.strokeStyle = series.mark === 'bar' ? ink().text : colour(series);
        context.lineWidth = 1.5;
        series.points.forEach((point, at) => {
          if (point[2] === null || point[3] === null) return;
          const element = drawing.getDatasetMeta(index).data[at];
          const low = scale.getPixelForValue(point[2]), high = scale.getPixelForValue(point[3]);
          context.beginPath();
          const across = chart.horizontal ? element.y : element.x;
          const stroke = (from_a, from_b, to_a, to_b) =>
            chart.horizontal ? (context.moveTo(from_a, from_b), context.lineTo(to_a, to_b))
              : (context.moveTo(from_b, from_a), context.lineTo(to_b, to_a));
          stroke(low, across, high, across);
          stroke(low, across - 4, low, across + 4);
          stroke(high, across - 4, high, across + 4);
          context.stroke();
        });
        context.restore();
      });
    },
  };

  // The sixth member of points: at the end of lying bars, above other marks.
  const beside_marks = {
    id: 'beside_marks',
    afterDatasetsDraw(drawing) {
      const chart = drawing.options.plugins.error_bars.chart;
      const context = drawing.ctx;
      context.save();
      context.fillStyle = ink().text;
      context.font = (drawing.width < 500 ? '10px ' : '12px ') + Chart.defaults.font.family;
      drawing.data.datasets.forEach((dataset, index) => {
        const series = chart.series[dataset.series];
        if (dataset.is_edge || !drawing.isDatasetVisible(index)) return;
        series.points.forEach((point, at) => {
          if (!point[5]) return;
          const element = drawing.getDatasetMeta(index).data[at];
          const width = context.measureText(point[5]).width, area = drawing.chartArea;
          const end = chart.horizontal ? drawing.scales.x.getPixelForValue(Math.max(point[1], point[3] ?? point[1])) + 6
            : element.x - width / 2;
          const x = Math.max(area.left + 2, Math.min(end, drawing.width - width - 2));
          context.fillText(point[5], x, chart.horizontal ? element.y + 4 : element.y - 9);
        });
      });
      context.restore();
    },
  };

  // The notes of upright floating bars above them: what each step of a waterfall takes.
  const bar_notes = {
    id: 'bar_notes',
    afterDatasetsDraw(drawing) {
      const chart = drawing.options.plugins.error_bars.chart;
      if (chart.horizontal) return;
      const context = drawing.ctx;
      context.save();
      context.fillStyle = ink().text;
      context.textAlign = 'center';
      context.font = (drawing.width < 500 ? '10px ' : '12px ') + Chart.defaults.font.family;
      drawing.data.datasets.forEach((dataset, index) => {
        const series = chart.series[dataset.series];
        if (series.mark !== 'floating' || !drawing.isDatasetVisible(index)) return;
        series.points.forEach((point, at) => {
          const bar = drawing.getDatasetMeta(index).data[at];
          const area = drawing.chartArea;
          const top = drawing.scales.y.getPixelForValue(point[3]), bottom = drawing.scales.y.getPixelForValue(point[2]);
          const has_room_above = top - area.top >= 16, has_room_below = area.bottom - bottom >= 18;
          context.fillStyle = has_room_above || has_room_below ? ink().text : ink().page;
          const y = has_room_above ? top - 5 : has_room_below ? bottom + 14 : top + 16;
          if (point[4]) context.fillText(point[4].replace(/ points$/, ''), bar.x, y);
        });
      });
      context.restore();
    },
  };

  function scale_title(text) {
    return { display: text !== '', text, color: ink().text, font: { size: 13 } };
  }
  // The values that intervals reach, so that no error bar is cut off.
  function reach(chart) {
    let low = Infinity, high = -Infinity;
    for (const series of chart.series)
      for (const point of series.points)
        for (const value of series.mark === 'floating' ? [point[2], point[3]] : [point[1], point[2], point[3]])
          if (value !== null && isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    return { low, high };
  }
  // Ticks of a logarithmic axis: powers of two, or of ten with their doubles and fives where there is room.
  function log_ticks(axis, low, high) {
    const ticks = [];
    if (axis.scale === 'log2') {
      for (let power = Math.ceil(Math.log2(low) - 1e-9); power <= Math.log2(high) + 1e-9; power += 1) ticks.push(2 ** power);
    } else {
      const factors = Math.log10(high / low) > 3 ? [1] : [1, 2, 5];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
        for (const factor of factors) ticks.push(factor * 10 ** power);
    }
    const shown = ticks.filter((value) => value >= low * 0.999 && value <= high * 1.001);
    const each = Math.ceil(shown.length / 9);
    return shown.filter((value, index) => index % each === 0).map((value) => ({ value }));
  }
  function value_scale(chart, axis) {
    const range = chart.stacked ? {} : reach(chart);
    const is_log = axis.scale !== 'linear';
    const scale = {
      type: is_log ? 'logarithmic' : 'linear',
      stacked: chart.stacked,
      beginAtZero: axis.zero && !is_log,
      title: scale_title(axis.title),
      grid: { color: ink().grid },
      ticks: { color: ink().text, maxTicksLimit: 9, callback: (value) => shown(axis, value) },
    };
    if (isFinite(range.low)) { scale.suggestedMin = range.low; scale.suggestedMax = range.high; }
    if (is_log) scale.afterBuildTicks = (built) => { built.ticks = log_ticks(axis, built.min, built.max); };
    return scale;
  }
  function place_scale(chart, axis) {
    const scale = {
      type: axis.scale === 'linear' ? 'linear' : 'logarithmic',
      beginAtZero: axis.zero && axis.scale === 'linear',
      title: scale_title(axis.title),
      grid: { color: ink().grid },
      ticks: { color: ink().text, maxRotation: 0, autoSkip: true, autoSkipPadding: 8, callback: (value) => shown(axis, value) },
    };
    if (axis.ticks.length > 0) {
      const first = axis.ticks[0], last = axis.ticks[axis.ticks.length - 1];
      if (axis.scale !== 'linear') { scale.min = first / 1.12; scale.max = last * 1.12; }
      else { const margin = (last - first) * 0.04 || 0.5; scale.min = first - margin; scale.max = last + margin; }
      scale.afterBuildTicks = (built) => { built.ticks = axis.ticks.map((value) => ({ value })); };
    }
    return scale;
  }
  // A category's name in lines that fit: a long label is broken at blanks.
  function lines_of(name, width) {
    const lines = [''];
    for (const word of name.split(' ')) {
      const last = lines.length - 1;
      if (lines[last] !== '' && (lines[last] + ' ' + word).length > width) lines.push(word);
      else lines[last] += (lines[last] === '' ? '' : ' ') + word;
    }
    const pieces = new RegExp('.{1,' + (width + 5) + '}', 'gu'); // of a word that is too long
    return lines.flatMap((line) => (line.length > width + 6 ? line.match(pieces) : [line]));
  }
  // Characters of a category's name in one line.
  function category_room(chart, width) {
    return chart.horizontal ? (width < 500 ? 18 : 36) : Math.max(8, Math.floor(width / chart.x.categories.length / 9));
  }
  function category_scale(chart, width) {
    const room = category_room(chart, width);
    return {
      type: 'category',
      labels: chart.x.categories,
      stacked: chart.stacked,
      title: scale_title(chart.x.title),
      grid: { display: false },
      ticks: {
        color: ink().text,
        autoSkip: false,
        maxRotation: chart.horizontal ? 0 : 60,
        font: { size: width < 500 ? 10 : 12 },
        callback(value) { return lines_of(chart.x.categories[value], room); },
      },
    };
  }
  function scales(chart, width) {
    const values = value_scale(chart, chart.y);
    const places = chart.x.categories.length > 0 ? category_scale(chart, width) : place_scale(chart, chart.x);
    return chart.horizontal ? { x: values, y: places } : { x: places, y: values };
  }

  function tooltip_lines(chart, item) {
    const series = chart.series[item.dataset.series];
    const data = item.dataset.data[item.dataIndex];
    const point = series.points.find((one) => {
      const same = chart.x.categories.length > 0 ? in_category(one, chart, series) : value_of(one, series, false);
      return String(same.x) === String(data.x) && String(same.y) === String(data.y);
    });
    if (!point) return series.name;
    const is_range = point[2] !== null && point[3] !== null;
    const lines = [series.name + (series.origin === 'measured' ? '' : ' (' + series.origin + ')')];
    if (series.mark === 'floating' && is_range) lines.push(shown(chart.y, point[2]) + ' to ' + shown(chart.y, point[3]));
    else lines.push(shown(chart.y, point[1]) + (is_range ? ' [' + shown(chart.y, point[2]) + ', ' + shown(chart.y, point[3]) + ']' : ''));
    if (point[4]) lines.push(point[4]);
    return lines;
  }
  function legend(chart, has_text_legend) {
    return {
      display: chart.series.length > 1 && !has_text_legend,
      position: 'bottom',
      labels: {
        color: ink().text,
        usePointStyle: true,
        boxWidth: 22,
        boxHeight: 7,
        filter: (item, data) => !data.datasets[item.datasetIndex].is_edge,
      },
      onClick(event, item, box) {
        const drawing = box.chart, series = drawing.data.datasets[item.datasetIndex].series;
        const show = !drawing.isDatasetVisible(item.datasetIndex);
        drawing.data.datasets.forEach((dataset, index) => {
          if (dataset.series === series) drawing.setDatasetVisibility(index, show);
        });
        drawing.update();
      },
    };
  }

  // To the right of the axes: marks say something at the end of lying bars.
  function room_beside(chart) {
    const says = chart.series.some((series) => series.points.some((point) => point[5]));
    return chart.horizontal && says ? 84 : 14;
  }
  function config(chart, width, has_text_legend) {
    const is_bars = chart.x.categories.length > 0;
    return {
      type: is_bars ? 'bar' : 'scatter',
      data: { datasets: datasets(chart) },
      plugins: [error_bars, beside_marks, bar_notes],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: chart.horizontal ? 'y' : 'x',
        layout: { padding: { top: 6, right: room_beside(chart) } },
        scales: scales(chart, width),
        interaction: { mode: 'nearest', intersect: true },
        plugins: {
          legend: legend(chart, has_text_legend),
          error_bars: { chart },
          tooltip: {
            filter: (item) => !item.dataset.is_edge,
            callbacks: {
              title: (items) => (items.length === 0 ? '' : is_bars ? String(chart.horizontal ? items[0].raw.y : items[0].raw.x)
                : (chart.x.title || 'x') + ': ' + shown(chart.x, items[0].raw.x)),
              label: (item) => tooltip_lines(chart, item),
            },
          },
        },
      },
    };
  }

  // Whether a name of the legend is wider than the chart, which would cut it.
  function has_long_name(chart, width) {
    const context = document.createElement('canvas').getContext('2d');
    context.font = Chart.defaults.font.size + 'px ' + Chart.defaults.font.family;
    return chart.series.length > 1 && chart.series.some((series) => context.measureText(series.name).width + 45 > width);
  }
  // A legend of text below the chart, which breaks its lines.
  function add_text_legend(chart, place, drawing) {
    const list = document.createElement('ul');
    list.className = 'legend';
    chart.series.forEach((series, index) => {
      const item = document.createElement('li');
      item.textContent = series.name;
      item.style.borderColor = colour(series);
      item.style.borderLeftStyle = series.origin === 'measured' ? 'solid' : 'dashed';
      item.onclick = () => drawing.options.plugins.legend.onClick(
        {}, { datasetIndex: drawing.data.datasets.findIndex((one) => one.series === index) }, { chart: drawing });
      list.appendChild(item);
    });
    place.insertAdjacentElement('afterend', list);
  }

  // A legend takes about a line per series on a narrow page.
  function height_of(chart, width, has_text_legend) {
    const has_legend = chart.series.length > 1 && !has_text_legend;
    const legend_height = has_legend ? Math.ceil((chart.series.length * (width < 500 ? 200 : 150)) / width) * 24 : 0;
    if (!chart.horizontal) return legend_height + (width < 500 ? 280 : 340);
    const lines = Math.max(...chart.x.categories.map((name) => lines_of(name, category_room(chart, width)).length));
    return legend_height + Math.max(150, 80 + chart.x.categories.length * Math.max(34, lines * 15 + 8));
  }
  function draw(chart) {
    const place = document.getElementById('chart-' + chart.id);
    if (!place) return;
    const old = drawn.get(chart.id);
    if (old) old.destroy();
    place.hidden = false;
    place.textContent = '';
    const canvas = document.createElement('canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', chart.title + '. ' + chart.caption);
    if (place.nextElementSibling && place.nextElementSibling.className === 'legend') place.nextElementSibling.remove();
    const width = place.clientWidth || 800;
    const has_text_legend = has_long_name(chart, width);
    place.style.height = height_of(chart, width, has_text_legend) + 'px';
    place.appendChild(canvas);
    const drawing = new Chart(canvas, config(chart, width, has_text_legend));
    drawn.set(chart.id, drawing);
    if (has_text_legend) add_text_legend(chart, place, drawing);
  }

  function charts_of_page() {
    const data = document.getElementById('charts');
    return data ? JSON.parse(data.textContent) : [];
  }
  function draw_all() {
    const hidden = hidden_series();
    for (const [id, old] of drawn)
      if (!document.getElementById('chart-' + id)) {
        old.destroy();
        drawn.delete(id);
      }
    for (const chart of charts_of_page()) draw(chart);
    hide_series(hidden);
  }
  // One value of a CSV file. Spreadsheets execute a text that begins like a formula, but not behind an apostrophe.
  function csv_text(value) {
    const text = String(value);
    const safe = /^[=+\-@\t\r\n]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? "'" + text : text;
    return /[",\r\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
  }
  // The data of a chart as CSV, with the full figures of the page.
  function chart_csv(chart) {
    const quoted = csv_text;
    const rows = [['series', 'origin', 'x', 'y', 'low', 'high', 'note'].join(',')];
    for (const series of chart.series)
      for (const point of series.points) {
        const x = chart.x.categories.length > 0 ? quoted(chart.x.categories[point[0]]) : point[0];
        rows.push([quoted(series.name), series.origin, x, point[1] ?? '', point[2] ?? '', point[3] ?? '', quoted(point[4] || '')].join(','));
      }
    return rows.join('\n') + '\n';
  }

  // Names of the hidden series, by the chart's id.
  function hidden_series() {
    const hidden = {};
    for (const [id, drawing] of drawn) {
      const names = drawing.data.datasets.filter((dataset, index) => !drawing.isDatasetVisible(index)).map((dataset) => dataset.label);
      if (names.length > 0) hidden[id] = names;
    }
    return hidden;
  }
  function hide_series(hidden) {
    const charts = charts_of_page();
    for (const [id, names] of Object.entries(hidden)) {
      const drawing = drawn.get(id), chart = charts.find((one) => one.id === id);
      if (!drawing || !chart) continue;
      drawing.data.datasets.forEach((dataset, index) => {
        if (names.includes(chart.series[dataset.series].name)) drawing.setDatasetVisibility(index, false);
      });
      drawing.update();
    }
  }

  window.dtctl_charts = {
    draw_all,
    hidden_series,
    hide_series,
    csv_text,
    csv_of(id) { return chart_csv(charts_of_page().find((chart) => chart.id === id)); },
    drawn,
  };
})();
