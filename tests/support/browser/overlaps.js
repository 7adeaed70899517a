// Gives the pairs of texts that cover each other: labels of scales and legends of the charts, and texts of the page outside tables.
(() => {
  const found = [];
  const covers = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;

  function scale_boxes(scale) {
    const items = scale._labelItems || [];
    const context = scale.ctx;
    return items.map((item) => {
      const lines = [].concat(item.label).map(String);
      context.save();
      context.font = item.font.string;
      const width = Math.max(...lines.map((line) => context.measureText(line).width));
      context.restore();
      const placed = item.options || item, height = item.font.lineHeight * lines.length;
      const [x, y] = placed.translation;
      return { text: lines.join(' '), x, y, width, height, rotation: placed.rotation || 0, align: placed.textAlign, offset: item.textOffset };
    }).filter((box) => box.text !== '');
  }
  // A label that is turned takes its height across its direction.
  function scale_overlaps(scale, name) {
    const boxes = scale_boxes(scale);
    for (let i = 1; i < boxes.length; i += 1) {
      const a = boxes[i - 1], b = boxes[i];
      const turned = Math.abs(a.rotation) > 0.01;
      const apart = scale.isHorizontal() ? Math.abs(b.x - a.x) : Math.abs(b.y - a.y);
      const needed = scale.isHorizontal()
        ? turned ? Math.min(a.height / Math.abs(Math.sin(a.rotation)), (a.width + b.width) / 2) : (a.width + b.width) / 2
        : Math.max(a.height, b.height) - 3;
      if (apart + 1 < needed) found.push(name + ': "' + a.text + '" and "' + b.text + '"');
    }
  }
  function legend_overlaps(chart, name) {
    const boxes = (chart.legend && chart.legend.legendHitBoxes) || [];
    for (let i = 0; i < boxes.length; i += 1)
      for (let k = i + 1; k < boxes.length; k += 1) {
        const box = (one) => ({ left: one.left, top: one.top, right: one.left + one.width, bottom: one.top + one.height });
        if (boxes[i].width > 0 && boxes[k].width > 0 && covers(box(boxes[i]), box(boxes[k]))) found.push(name + ': legend');
      }
    for (const box of boxes)
      if (box.left + box.width > chart.width + 1 || box.left < -1) found.push(name + ': legend is cut off');
  }
  const charts = window.dtctl_charts ? dtctl_charts.drawn : new Map();
  for (const [id, chart] of charts) {
    for (const scale of Object.values(chart.scales)) scale_overlaps(scale, id + ' ' + scale.id);
    legend_overlaps(chart, id);
    const area = chart.chartArea;
    if (area.right - area.left < chart.width * 0.4 || area.bottom - area.top < 60) found.push(id + ': no room for the drawing');
  }

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (node.data.trim() === '' || parent.closest('table, pre, script, style')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
      if (box.width > 0 && box.height > 0) texts.push({ node, text: node.data.trim(), left: box.left, right: box.right, top: box.top, bottom: box.bottom });
  }
  texts.sort((a, b) => a.top - b.top);
  for (let i = 0; i < texts.length; i += 1)
    for (let k = i + 1; k < texts.length && texts[k].top < texts[i].bottom; k += 1)
      if (texts[i].node !== texts[k].node && covers(texts[i], texts[k]) && Math.min(texts[i].bottom, texts[k].bottom) - Math.max(texts[i].top, texts[k].top) > 4)
        found.push('page: "' + texts[i].text.slice(0, 40) + '" and "' + texts[k].text.slice(0, 40) + '"');
  if (document.documentElement.scrollWidth > innerWidth)
    for (const element of document.querySelectorAll('body *'))
      if (element.getBoundingClientRect().right > innerWidth + 1 && (matchMedia('print').matches || !element.closest('.scroll, pre')))
        found.push('wider than the page: ' + element.tagName + ' ' + element.textContent.trim().slice(0, 60));
  return found;
})()
