import { fill, type InitialMessages, type Plural } from "./messages.js";

/** Numbers, sizes and times as a language writes them. */
export class Formats {
  readonly language: string;
  readonly #units: InitialMessages["units"];
  readonly #justNow: string;
  readonly #whole: Intl.NumberFormat;
  readonly #tenths: Intl.NumberFormat;
  readonly #hundredths: Intl.NumberFormat;
  readonly #threeDigits: Intl.NumberFormat;
  readonly #percent: Intl.NumberFormat;
  readonly #plural: Intl.PluralRules;
  readonly #relative: Intl.RelativeTimeFormat;
  readonly #moment: Intl.DateTimeFormat;

  constructor(language: string, messages: InitialMessages) {
    this.language = language;
    this.#units = messages.units;
    this.#justNow = messages.justNow;
    this.#whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
    this.#tenths = digits(language, 1);
    this.#hundredths = digits(language, 2);
    this.#threeDigits = new Intl.NumberFormat(language, {
      maximumSignificantDigits: 3,
    });
    this.#percent = new Intl.NumberFormat(language, {
      style: "percent",
      maximumFractionDigits: 0,
    });
    this.#plural = new Intl.PluralRules(language);
    this.#relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
    this.#moment = new Intl.DateTimeFormat(language, {
      dateStyle: "medium",
      timeStyle: "medium",
    });
  }

  count(value: number): string {
    return this.#whole.format(value);
  }

  /** Of any kind, to three digits. */
  number(value: number): string {
    return this.#threeDigits.format(value);
  }

  /** Something a second: small rates keep a decimal. */
  rate(value: number): string {
    return value > 0 && value < 9.95
      ? this.#tenths.format(value)
      : this.#whole.format(value);
  }

  /** A share from 0 to 1. */
  share(value: number): string {
    return this.#percent.format(value);
  }

  /** The form of a text that fits a number, with `{n}` filled in. */
  plural(forms: Plural, n: number): string {
    const form = forms[this.#plural.select(n)] ?? forms.other;
    return fill(form, { n: this.count(n) });
  }

  /** Milliseconds, to about three digits: `0.42 ms`, `3.1 ms`, `250 ms`. */
  milliseconds(ms: number): string {
    return fill(this.#units.ms, { n: this.#digits(ms) });
  }

  /** A span in the unit that suits it: `87 ms`, `1.4 s`, `5 min`, `3 h`, `12 d`. */
  span(ms: number): string {
    const { s, min, h, d } = this.#units;
    if (ms < 1000) return fill(this.#units.ms, { n: this.count(ms) });
    if (ms < 60_000) return fill(s, { n: this.#digits(ms / 1000) });
    if (ms < 3_600_000) return fill(min, { n: this.count(ms / 60_000) });
    if (ms < 172_800_000)
      return fill(h, { n: this.count(Math.floor(ms / 3_600_000)) });
    return fill(d, { n: this.count(Math.floor(ms / 86_400_000)) });
  }

  /** How long something has been so, in whole units: `32 s`, `5 min`, `3 h`, `12 d`. */
  duration(ms: number): string {
    if (ms >= 60_000) return this.span(ms);
    return fill(this.#units.s, { n: this.count(Math.floor(ms / 1000)) });
  }

  /** A setting in the largest unit that needs no fraction: `20 s`, `90 s`, `5 min`, `2 h`. */
  interval(ms: number): string {
    const { s, min, h, d } = this.#units;
    if (ms % 86_400_000 === 0 && ms > 0)
      return fill(d, { n: this.count(ms / 86_400_000) });
    if (ms % 3_600_000 === 0 && ms > 0)
      return fill(h, { n: this.count(ms / 3_600_000) });
    if (ms % 60_000 === 0 && ms > 0)
      return fill(min, { n: this.count(ms / 60_000) });
    return fill(s, { n: this.number(ms / 1000) });
  }

  /** Decimal units, as networks and disks are sold. */
  bytes(bytes: number): string {
    const { B, kB, MB, GB, TB, PB } = this.#units;
    if (bytes < 1000) return fill(B, { n: this.count(bytes) });
    if (bytes < 1e6) return fill(kB, { n: this.count(bytes / 1e3) });
    if (bytes < 9.95e6) return fill(MB, { n: this.rate(bytes / 1e6) });
    if (bytes < 1e9) return fill(MB, { n: this.count(bytes / 1e6) });
    if (bytes < 1e12) return fill(GB, { n: this.#digits(bytes / 1e9) });
    if (bytes < 1e15) return fill(TB, { n: this.#digits(bytes / 1e12) });
    return fill(PB, { n: this.#digits(bytes / 1e15) });
  }

  /** Binary units, as memory and disks are given out: `4 GiB`. */
  size(bytes: number): string {
    let value = bytes;
    let unit = 0;
    for (; Math.abs(value) >= 1024 && unit < binaryUnits.length - 1; unit++)
      value /= 1024;
    return `${this.number(value)} ${binaryUnits[unit]}`;
  }

  /** How long ago: `just now`, `12 seconds ago`, `yesterday`. */
  ago(ms: number): string {
    const seconds = Math.max(0, ms / 1000);
    if (seconds < 5) return this.#justNow;
    if (seconds < 60)
      return this.#relative.format(-Math.floor(seconds), "second");
    if (seconds < 3600)
      return this.#relative.format(-Math.floor(seconds / 60), "minute");
    if (seconds < 86_400)
      return this.#relative.format(-Math.floor(seconds / 3600), "hour");
    return this.#relative.format(-Math.floor(seconds / 86_400), "day");
  }

  moment(iso: string): string {
    const date = new Date(iso);
    return Number.isNaN(date.getTime()) ? iso : this.#moment.format(date);
  }

  #digits(value: number): string {
    if (value >= 100 || value === 0) return this.#whole.format(value);
    return (value >= 1 ? this.#tenths : this.#hundredths).format(value);
  }
}

const binaryUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

function digits(language: string, maximumFractionDigits: number) {
  return new Intl.NumberFormat(language, {
    maximumFractionDigits,
    minimumFractionDigits: maximumFractionDigits,
  });
}
