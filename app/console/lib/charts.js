// Plots: uPlot for what happens over time, plain elements for everything smaller.

import { html, useEffect, useRef } from "../vendor/preact.js";
import { amount, number, words } from "./format.js";
import { Empty } from "./ui.js";

const COLOURS = ["--plot-1", "--plot-2", "--plot-3", "--plot-4", "--plot-5"];

/** Return what a custom property comes to in the colours that are shown now. */
function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Bars of each day, stacked; `series` is {name: [a number for each day]}. A table says the same to screen readers. */
export function DayPlot({ title, days, series, height = 170 }) {
  const box = useRef(null);
  const names = Object.keys(series);
  useEffect(() => {
    const draw = () => {
      box.current.replaceChildren();
      const plot = new window.uPlot(options(names, box.current.clientWidth, height), stacked(days, names, series), box.current);
      return () => plot.destroy();
    };
    let destroy = draw();
    const again = () => (destroy(), (destroy = draw()));
    const watcher = new ResizeObserver(() => requestAnimationFrame(() => box.current && again()));
    watcher.observe(box.current.parentElement);
    addEventListener("theme", again);
    return () => (watcher.disconnect(), removeEventListener("theme", again), destroy());
  }, [JSON.stringify([days, series])]);
  return html`<figure class="plot">
    <figcaption><strong>${title}</strong>
      <span class="legend">${names.map((name, place) => html`<span class="key"><i class="dot plot-${(place % 5) + 1}"></i>${words(name)}</span>`)}</span>
    </figcaption>
    <div ref=${box} class="plot-box" style=${`height:${height}px`} aria-hidden="true"></div>
    <div class="visually-hidden"><table><caption>${title}</caption>
      <thead><tr><th>Day</th>${names.map((name) => html`<th>${words(name)}</th>`)}</tr></thead>
      <tbody>${days.slice(-14).map((day, place) => html`<tr><td>${day}</td>
        ${names.map((name) => html`<td>${series[name].slice(-14)[place]}</td>`)}</tr>`)}</tbody>
    </table></div>
  </figure>`;
}

function stacked(days, names, series) {
  const times = days.map((one) => Date.parse(`${one}T00:00:00Z`) / 1000);
  const sums = days.map(() => 0);
  const layers = names.map((name) => series[name].map((value, place) => (sums[place] += value)));
  return [times, ...layers.reverse()];
}

/** Steps of an axis that counts. */
const WHOLE = [...Array(9).keys()].flatMap((power) => [1, 2, 5].map((one) => one * 10 ** power));

function options(names, width, height) {
  const bars = window.uPlot.paths.bars({ size: [0.7, 40] });
  const text = colour("--muted");
  const axis = { stroke: text, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  const layers = names.map((name, place) => {
    const fill = colour(COLOURS[place % COLOURS.length]);
    return { label: name, stroke: fill, fill, width: 0, paths: bars, points: { show: false } };
  });
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.1)] } },
    axes: [{ ...axis, size: 32, gap: 9, grid: { show: false }, values: (_, ticks) => ticks.map((one) => new Date(one * 1000).toISOString().slice(5, 10)) },
      { ...axis, size: 44, incrs: WHOLE, values: (_, ticks) => ticks.map(number) }],
    series: [{}, ...layers.reverse()],
  };
}

/** Names with horizontal bars in proportion; `link` makes a name lead somewhere. */
export function Bars({ counts, link, label }) {
  const rows = Object.entries(counts ?? {}).filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]);
  if (!rows.length) return html`<${Empty}>None yet.<//>`;
  const most = Math.max(...rows.map(([, count]) => count));
  return html`<ul class="bars" aria-label=${label}>${rows.map(([name, count]) => html`<li>
    <span class="bar-name">${link ? html`<a href=${link(name)}>${words(name)}</a>` : words(name)}</span>
    <span class="bar-track" aria-hidden="true"><span class="bar-fill" style=${`width:${(100 * count) / most}%`}></span></span>
    <span class="bar-count">${number(count)}</span></li>`)}</ul>`;
}

/** A histogram of bands [{least, under, count}]. */
export function Histogram({ bands, label }) {
  const most = Math.max(...bands.map((one) => one.count));
  if (!most) return html`<${Empty}>None yet.<//>`;
  const name = (one) => (one.under === null ? `${one.least} and more` : `${one.least} to ${one.under}`);
  return html`<div class="histogram" role="img" aria-label=${`${label}: ${bands.map((one) => `${name(one)}: ${one.count}`).join(", ")}`}>
    ${bands.map((one) => html`<div class="column" title=${`${name(one)}: ${one.count}`}>
      <span class="column-count">${one.count || ""}</span>
      <span class="column-bar" style=${`height:${(100 * one.count) / most}%`}></span>
      <span class="column-name">${one.least}</span></div>`)}
  </div>`;
}

/** The freshness under which a memory expires. */
const EXPIRES = 0.1;

/** Say how freshness falls, as its curve shows it: to `floor` at least, under the threshold after some days. */
function fading(now, halfLife, floor, expires) {
  const here = `Freshness is ${now.toFixed(2)} now`;
  if (!halfLife) return `${here} and does not fade.`;
  if (now <= floor) return `${here}, the least it falls to.`;
  const end = expires === null ? (now <= EXPIRES ? "; under 0.10 already" : "") : `; under 0.10 in ${amount(Math.max(1, Math.round(expires)), "days")}`;
  return `${here} and halves every ${amount(halfLife, "days")} without use${floor >= EXPIRES ? `, down to ${floor.toFixed(2)}` : ""}${end}.`;
}

/** How a memory fades from now on: freshness against days, with the threshold under which it expires. */
export function FreshnessCurve({ now, halfLife, floor }) {
  const span = halfLife ? Math.max(30, halfLife * 4) : 365;
  const x = (days) => 40 + (days / span) * 340;
  const top = Math.max(1, Math.ceil(now));
  const y = (value) => 110 - (Math.min(top, value) / top) * 95;
  const at = (days) => (halfLife ? Math.max(floor, now * 2 ** (-days / halfLife)) : now);
  const points = Array.from({ length: 61 }, (_, place) => (place * span) / 60);
  const expires = halfLife && floor < EXPIRES && now > EXPIRES ? halfLife * Math.log2(now / EXPIRES) : null;
  const told = fading(now, halfLife, floor, expires);
  return html`<figure class="curve"><svg viewBox="0 0 400 135" role="img" aria-label=${told}>
    <line x1="40" x2="380" y1=${y(EXPIRES)} y2=${y(EXPIRES)} class="curve-limit" />
    <line x1="40" x2="380" y1="110" y2="110" class="curve-axis" /><line x1="40" x2="40" y1="15" y2="110" class="curve-axis" />
    <polyline class="curve-line" points=${points.map((days) => `${x(days).toFixed(1)},${y(at(days)).toFixed(1)}`).join(" ")} />
    ${expires && expires < span && html`<circle class="curve-dot" cx=${x(expires)} cy=${y(EXPIRES)} r="4" />`}
    <text x="34" y="20" class="curve-text end">${top}</text><text x="34" y="115" class="curve-text end">0</text>
    <text x="34" y=${y(EXPIRES) - 3} class="curve-text end">0.1</text>
    <text x="40" y="129" class="curve-text">now</text><text x="380" y="129" class="curve-text end">${amount(Math.round(span), "days")}</text>
  </svg><figcaption>${told}</figcaption></figure>`;
}
