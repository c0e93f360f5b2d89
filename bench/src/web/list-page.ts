/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { gzipSync } from "node:zlib";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Page,
} from "playwright-core";

/** A name of a VM in the list, which leads to its page. */
const ROW = 'a[href^="#/vms/"]';
/** Number of rows that make a list. */
const ROWS = 15;
/** Timeout of everything that the page is waited for, in ms: a server that has just been started loads its pools first. */
const TIMEOUT_MS = 120_000;

interface Frames {
  readonly perSecond: number;
  readonly p95Ms: number;
  readonly longestMs: number;
  /** Tasks of the page's main thread over 50 ms. */
  readonly longTasks: number;
}

/** The list of VMs in a browser, as a user sees it. */
export class ListPage {
  readonly #browser: Browser;
  readonly #url: string;
  #context: BrowserContext | undefined;
  #page: Page | undefined;

  static async open(executablePath: string, url: string): Promise<ListPage> {
    const args = ["--no-sandbox", "--disable-gpu", "--no-first-run"];
    const browser = await chromium.launch({ executablePath, args });
    return new ListPage(browser, url);
  }

  private constructor(browser: Browser, url: string) {
    this.#browser = browser;
    this.#url = url;
  }

  get page(): Page {
    return this.#page!;
  }

  /** JavaScript that a first visitor's browser fetches, gzip-compressed as well as can be, in bytes. */
  async firstScriptBytes(): Promise<number> {
    await this.#renew();
    let bytes = 0;
    const reading: Promise<void>[] = [];
    this.page.on("response", (response) => {
      if (!response.url().endsWith(".js")) return;
      reading.push(
        response.body().then((body) => {
          bytes += gzipSync(body, { level: 9 }).length;
        }),
      );
    });
    await this.#visit();
    await Promise.all(reading);
    return bytes;
  }

  /**
   * Measures the time from the button "Sign in" to a usable list, in ms. The files of the page
   * are cached by the browser.
   */
  async signIn(password: string): Promise<number> {
    await this.#context!.clearCookies();
    await this.#page!.close();
    this.#page = await this.#context!.newPage();
    await this.#visit();
    await this.page.getByLabel("Name or e-mail").fill("admin");
    await this.page.getByLabel("Password").fill(password);
    await this.page.evaluate(noteNext, { event: "submit", row: ROW });
    await this.page.keyboard.press("Enter");
    return this.page.evaluate(untilRows, { row: ROW, rows: ROWS });
  }

  /** Measures the time from a reload to the list, for a signed-in user. */
  async reload(): Promise<number> {
    await this.page.reload({ waitUntil: "commit" });
    await this.page.locator(ROW).nth(ROWS).waitFor();
    return this.page.evaluate(() => performance.now());
  }

  /** Measures the time from opening the list in a new tab to its rows, for a signed-in user, in ms. */
  async visitSignedIn(): Promise<number> {
    await this.#page!.close();
    this.#page = await this.#context!.newPage();
    await this.page.goto(`${this.#url}/#/vms`, { waitUntil: "commit" });
    await this.page.locator(ROW).nth(ROWS).waitFor();
    return this.page.evaluate(() => performance.now());
  }

  scroll(ms: number): Promise<Frames> {
    return this.page.evaluate(scrollFor, { row: ROW, ms });
  }

  /** Measures the time from each key press in the filter to the changed rows, in ms. */
  async type(keystrokes: number): Promise<number[]> {
    const field = this.page.getByRole("combobox").first();
    await field.click();
    const delays: number[] = [];
    for (let i = 0; i < keystrokes; i++) {
      await this.page.evaluate(noteNext, { event: "keydown", row: ROW });
      // Not 0, which is in the names of all VMs: it would change no row.
      const digit = `${(i % 9) + 1}`;
      await this.page.keyboard.press(i % 2 === 0 ? digit : "Backspace");
      delays.push(await this.page.evaluate(untilOtherRows, ROW));
    }
    await field.fill("");
    await this.page.keyboard.press("Escape");
    return delays;
  }

  /** Ids of the VMs that are shown. */
  shownIds(): Promise<string[]> {
    return this.page
      .locator(ROW)
      .evaluateAll((links) => [
        ...new Set(
          links.map((link) => link.getAttribute("href")!.split("/")[2]!),
        ),
      ]);
  }

  /** @returns when a name with these words was shown, in ms since 1970 */
  shownAt(words: string): Promise<number> {
    return this.page.evaluate(untilShown, { row: ROW, words });
  }

  /** Bytes that the page's scripts hold, after a full collection. */
  async heapBytes(): Promise<number> {
    const session = await this.#context!.newCDPSession(this.page);
    await session.send("HeapProfiler.enable");
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    await session.detach();
    return usedSize;
  }

  close(): Promise<void> {
    return this.#browser.close();
  }

  async #visit(): Promise<void> {
    await this.page.goto(`${this.#url}/#/vms`);
    await this.page.getByLabel("Password").waitFor();
  }

  async #renew(): Promise<void> {
    await this.#context?.close();
    const viewport = { width: 1440, height: 900 };
    this.#context = await this.#browser.newContext({
      viewport,
      locale: "en-US",
    });
    this.#context.setDefaultTimeout(TIMEOUT_MS);
    this.#page = await this.#context.newPage();
  }
}

// What follows runs in the page.

/** When the next event came, and the rows that the page showed then. */
interface Noted {
  at?: number;
  rows?: string;
}

function noteNext({ event, row }: { event: string; row: string }) {
  const noted: Noted = {};
  Object.assign(window, { noted });
  const note = () => {
    noted.at = performance.now();
    noted.rows = [...document.querySelectorAll(row)]
      .map((link) => link.textContent)
      .join();
  };
  addEventListener(event, note, { capture: true, once: true });
}

function untilRows({ row, rows }: { row: string; rows: number }) {
  const { noted } = window as unknown as { noted: Noted };
  return new Promise<number>((resolve) => {
    const look = () => {
      if (document.querySelectorAll(row).length < rows)
        return void requestAnimationFrame(look);
      // What is drawn now is seen in the next frame.
      requestAnimationFrame(() => resolve(performance.now() - noted.at!));
    };
    look();
  });
}

function scrollFor({ row, ms }: { row: string; ms: number }) {
  return new Promise<Frames>((resolve) => {
    const pixelsPerMs = 24;
    let scroller = document.querySelector(row)!.parentElement!;
    while (
      !/auto|scroll/.test(getComputedStyle(scroller).overflowY) &&
      scroller !== document.documentElement
    )
      scroller = scroller.parentElement!;
    let longTasks = 0;
    const observer = new PerformanceObserver((list) => {
      longTasks += list.getEntries().length;
    });
    observer.observe({ type: "longtask" });
    const frames: number[] = [];
    const startedAt = performance.now();
    let before = startedAt;
    const next = (now: number) => {
      frames.push(now - before);
      scroller.scrollTop += (now - before) * pixelsPerMs;
      before = now;
      if (now - startedAt < ms) return void requestAnimationFrame(next);
      observer.disconnect();
      const sorted = frames.slice(1).sort((a, b) => a - b);
      scroller.scrollTop = 0;
      resolve({
        perSecond: (frames.length * 1000) / (now - startedAt),
        p95Ms: sorted[Math.floor(sorted.length * 0.95)]!,
        longestMs: sorted.at(-1)!,
        longTasks,
      });
    };
    requestAnimationFrame(next);
  });
}

function untilOtherRows(row: string) {
  const { noted } = window as unknown as { noted: Noted };
  return new Promise<number>((resolve) => {
    const look = () => {
      const late = performance.now() - noted.at!;
      const shown = [...document.querySelectorAll(row)]
        .map((link) => link.textContent)
        .join();
      if (shown !== noted.rows) return void resolve(late);
      // A key that changes nothing in ten seconds is reported as such.
      if (late > 10_000) return void resolve(NaN);
      requestAnimationFrame(look);
    };
    look();
  });
}

function untilShown({ row, words }: { row: string; words: string }) {
  return new Promise<number>((resolve) => {
    const startedAt = performance.now();
    const look = () => {
      const isShown = [...document.querySelectorAll(row)].some((link) =>
        link.textContent.includes(words),
      );
      if (isShown)
        return void resolve(performance.timeOrigin + performance.now());
      if (performance.now() - startedAt > 10_000) return void resolve(NaN);
      requestAnimationFrame(look);
    };
    look();
  });
}
