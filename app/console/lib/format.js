// Numbers and times as people read them.

const DAY = 86_400_000;
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const STEPS = [
  ["year", 365 * DAY],
  ["month", 30 * DAY],
  ["day", DAY],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** Return "2026-04-01 09:30" in the reader's time zone, without the time at midnight UTC. */
export function when(instant) {
  if (!instant) return "";
  if (/T00:00:00(\.0+)?Z$/.test(instant)) return instant.slice(0, 10);
  const date = new Date(instant);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export const day = (instant) => (instant ? when(instant).slice(0, 10) : "");

/** Return "3 days ago". */
export function ago(instant, now = Date.now()) {
  if (!instant) return "";
  const passed = new Date(instant).getTime() - now;
  for (const [unit, length] of STEPS) {
    if (Math.abs(passed) >= length) return RELATIVE.format(Math.round(passed / length), unit);
  }
  return "just now";
}

export const number = (value) => (value ?? 0).toLocaleString("en");
/** Return what a number counts, named in the plural: "memories", but "memory" of one. */
export const noun = (count, things) => (count === 1 ? things.replace(/ies$/, "y").replace(/s$/, "") : things);
export const amount = (count, things) => `${number(count)} ${noun(count, things)}`;
export const fraction = (value) => (value === null || value === undefined ? "" : Number(value).toFixed(2));
export const words = (name) => String(name ?? "").replaceAll("_", " ").replaceAll("-", " ");
export const sum = (object) => Object.values(object ?? {}).reduce((total, one) => total + one, 0);

/** Return an id short enough for a table; the full one belongs into a title or a link. */
export const short = (id) => (id ? `${id.split("_")[0]}_…${id.slice(-6)}` : "");

/** Return an instant for the API from the value of a date or datetime-local field; what is no date is the API's to refuse. */
export function instant(value) {
  if (!value) return "";
  const date = new Date(value.length === 10 ? `${value}T00:00:00Z` : value);
  return Number.isNaN(date.getTime()) ? value : date.toISOString();
}

export const DAY_MS = DAY;
