import type { Browser, Page } from "playwright-core";
import type { Test } from "tap";
import { violations } from "./axe.js";
import { serveBuilt } from "./built-page.js";
import { consoleErrorsOf } from "./chromium.js";

export interface View {
  readonly colorScheme: "light" | "dark";
  /** Pixels. */
  readonly width: number;
}

/** Text size and layout differ by width, contrast by scheme. */
export const wide: View = { colorScheme: "light", width: 1440 };
export const narrow: View = { colorScheme: "dark", width: 390 };

export interface PageOptions {
  readonly browser: Browser;
  /** Of the server, without a path. */
  readonly url: string;
  /** After `#`, such as `/vms`. */
  readonly path: string;
  /** `name=value` of a session; empty: not signed in. */
  readonly cookie: string;
  readonly view?: View;
  /** Of the browser. Default: en-US. */
  readonly language?: string;
  /** Called before the page loads. */
  readonly prepare?: (page: Page) => unknown;
}

/** A page of a real server in a browser context of its own, which is closed when the test ends. */
export async function openPage(
  t: Test,
  {
    browser,
    url,
    path,
    cookie,
    view = wide,
    language = "en-US",
    prepare,
  }: PageOptions,
): Promise<{ page: Page; consoleErrors: string[] }> {
  const context = await browser.newContext({
    colorScheme: view.colorScheme,
    reducedMotion: "reduce",
    viewport: { width: view.width, height: 900 },
    locale: language,
    acceptDownloads: true,
  });
  t.teardown(() => context.close());
  const [name = "", value = ""] = cookie.split("=");
  if (name !== "") await context.addCookies([{ name, value, url }]);
  await serveBuilt(context, url);
  const page = await context.newPage();
  await prepare?.(page);
  const consoleErrors = consoleErrorsOf(page);
  await page.goto(`${url}/#${path}`);
  return { page, consoleErrors };
}

/** Checks accessibility and width of the shown page, in light and dark, wide and narrow. */
export async function checkViews(
  t: Test,
  page: Page,
  name: string,
): Promise<void> {
  for (const { colorScheme, width } of [wide, narrow]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 900 });
    t.same(await violations(page), [], `${name}, ${colorScheme}, ${width}`);
    t.ok(await fitsWindow(page), `${name} fits into ${width}`);
  }
  await page.setViewportSize({ width: wide.width, height: 900 });
}

/** Whether the page does not scroll horizontally. */
export function fitsWindow(page: Page): Promise<boolean> {
  return page.evaluate(
    () => document.documentElement.scrollWidth <= window.innerWidth,
  );
}
