// Draws each figure.chart from the JSON within it, in the colours of the style sheet. Without it the table is read.
"use strict";
(() => {
  const drawn = [];

  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return (name) => style.getPropertyValue(`--${name}`).trim();
  };

  const figures = new Intl.NumberFormat("en-US", { maximumFractionDigits: 4 });

  const shorts = [1, 2, 3, 4, 5, 6].map((maximumFractionDigits) =>
    new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits }));

  // As many decimals as make the labels of an axis different.
  const tick = (value, _, ticks) => {
    const differ = (form) => new Set(ticks.map((each) => form.format(each.value))).size === ticks.length;
    return (shorts.find(differ) ?? shorts.at(-1)).format(value);
  };

  const dataset = (series, kind, colour) => ({
    label: series.name,
    data: series.values,
    backgroundColor: colour(`tone-${series.tone}`),
    borderColor: colour(`tone-${series.tone}`),
    borderWidth: kind === "line" ? 2 : 0,
    borderRadius: kind === "line" ? 0 : 2,
    maxBarThickness: 40,
    categoryPercentage: 0.7,
    barPercentage: 0.95,
    pointRadius: series.values.length > 60 ? 0 : 2,
    pointHitRadius: 8,
  });

  const isWhole = (chart) => chart.series.every((each) => each.values.every((value) => Number.isInteger(value ?? 0)));

  const scales = (chart, colour) => {
    const grid = { color: colour("line"), drawTicks: false };
    const ticks = { color: colour("muted"), padding: 6 };
    return {
      x: { stacked: chart.stacked, grid: { display: false }, border: { color: colour("line") },
           ticks: { ...ticks, autoSkip: true, autoSkipPadding: 14, maxRotation: 0 } },
      y: { stacked: chart.stacked, beginAtZero: true, grid, border: { display: false },
           ticks: { ...ticks, maxTicksLimit: 6, precision: isWhole(chart) ? 0 : undefined, callback: tick } },
    };
  };

  const plugins = (chart, colour) => ({
    legend: { display: chart.series.length > 1, align: "start",
              labels: { color: colour("ink"), boxWidth: 10, boxHeight: 10 } },
    tooltip: { callbacks: { label: (item) =>
      ` ${item.dataset.label}: ${figures.format(item.parsed.y)}${chart.unit ? ` ${chart.unit}` : ""}` } },
  });

  const options = (chart, colour) => ({
    animation: false, // nothing moves, whatever the reader prefers
    responsive: true,
    maintainAspectRatio: false,
    interaction: { mode: "index", intersect: false },
    scales: scales(chart, colour),
    plugins: plugins(chart, colour),
    onClick: (event, hit) => {
      if (hit.length && chart.links.length) location.href = chart.links[hit[0].index];
    },
    onHover: (event, hit) => {
      event.native.target.style.cursor = hit.length && chart.links.length ? "pointer" : "default";
    },
  });

  const draw = (figure) => {
    const chart = JSON.parse(figure.querySelector("script").textContent);
    const place = figure.querySelector(".drawing");
    const colour = colours();
    place.hidden = false;
    drawn.push(new Chart(place.firstElementChild, {
      type: chart.kind,
      data: { labels: chart.labels, datasets: chart.series.map((each) => dataset(each, chart.kind, colour)) },
      options: options(chart, colour),
    }));
  };

  const all = () => {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    drawn.splice(0).forEach((chart) => chart.destroy());
    document.querySelectorAll("figure.chart").forEach(draw);
  };

  all();
  document.querySelectorAll("figure.chart details").forEach((table) => { table.open = false; });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  addEventListener("beforeprint", () => drawn.forEach((chart) => chart.resize()));
})();
