import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";
import type { Test } from "tap";

/** The page as `npm run build` leaves it, or as WEB_ROOT says. This file runs from test/dist/browser. */
export const webRoot =
  process.env["WEB_ROOT"] ??
  fileURLToPath(new URL("../../../packages/xo-web/dist", import.meta.url));

const places = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

export function findChromium(): string | undefined {
  return places.find((place) => place !== undefined && existsSync(place));
}

/** Why browser tests cannot run here; undefined if they can. For tap's `skip`. */
export function noBrowserReason(): string | undefined {
  if (findChromium() === undefined)
    return "no Chromium found: install it (apt-get install chromium) or set CHROMIUM to its path";
  if (!existsSync(webRoot))
    return "the page is not built: npm run build -w @xo-server/xo-web";
  return undefined;
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium()!,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** Test files of one process share a browser; each page has a context of its own. */
let shared: Promise<Browser> | undefined;

/** A browser whose contexts are closed when the test ends. */
export async function openBrowser(t: Test): Promise<Browser> {
  // Without the runner, an open browser would keep the process.
  const isShared = process.env["XO_TEST_PROCESS"] === "shared";
  const browser = await (isShared
    ? (shared ??= launchChromium())
    : launchChromium());
  t.teardown(async () => {
    if (!isShared) return browser.close();
    for (const context of browser.contexts()) await context.close();
  });
  return browser;
}

/** Collects errors of a page: script errors, console errors, violations of the content policy. */
export function consoleErrorsOf(page: Page): string[] {
  const consoleErrors: string[] = [];
  page.on("pageerror", (error) => consoleErrors.push(error.message));
  page.on("console", (message) => {
    // Some tests stop the server; Chromium logs each failed attempt.
    const vain = message.text().startsWith("WebSocket connection to");
    if (message.type() === "error" && !vain) consoleErrors.push(message.text());
  });
  return consoleErrors;
}
