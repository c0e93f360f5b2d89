// Takes a screenshot of every page: npm run screenshots -- [DIR] [--demo A,B,C] [--only vms,vm]
// Default folder: test/output/screenshots, which git ignores.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import type { BrowserContext, Page } from "playwright-core";
import { root } from "../../running-program.js";
import { launchChromium } from "../chromium.js";
import { InterruptibleProxy } from "./interruptible-proxy.js";
import { pages, type Ids, type PageToShow } from "./pages.js";

const PASSWORD = "screenshots";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    demo: { type: "string", default: "A,B,C" },
    only: { type: "string" },
    /** Comma-separated: `light-1440`. */
    views: { type: "string" },
    /** The connection is interrupted before the screenshot. */
    disconnected: { type: "boolean" },
    /** Language of the browser, such as de-DE. Steps that find English texts fail in others. */
    language: { type: "string", default: "en-US" },
    png: { type: "boolean" },
    /** Device scale factor; 0.5 halves the screenshots. */
    scale: { type: "string", default: "1" },
    /** Height of wide screenshots, in pixels. */
    height: { type: "string", default: "900" },
    /** Milliseconds between loading and screenshot; the first statistics take about 2 s. */
    wait: { type: "string", default: "2500" },
  },
});
const [folder = join(root, "test", "output", "screenshots")] = positionals;
const views = (values.views ?? "light-1440,dark-1440,light-390,dark-390").split(
  ",",
);

const home = await mkdtemp(join(tmpdir(), "xo-screenshots-"));
await writeFile(
  join(home, "config.yaml"),
  JSON.stringify({
    dataDir: join(home, "data"),
    http: { host: "127.0.0.1", port: 0 },
  }),
);
const demo = values.demo === "none" ? [] : ["--demo", values.demo];
const server = spawn(
  process.execPath,
  [
    join(root, "bin", "xo-server"),
    "start",
    ...demo,
    "--config",
    join(home, "config.yaml"),
  ],
  { env: { ...process.env, XO_ADMIN_PASSWORD: PASSWORD } },
);
process.once("exit", () => server.kill("SIGKILL"));
const url = await new Promise<string>((resolve) => {
  createInterface(server.stdout).on("line", (line) => {
    const found = /listening on (http:\S+)/.exec(line)?.[1];
    if (found !== undefined) resolve(found);
  });
});
const answer = await fetch(`${url}/rest/v0/auth/login`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ username: "admin", password: PASSWORD }),
});
const cookie = answer.headers.getSetCookie()[0]!.split(";")[0]!;
const ids = await readIds();
/** Between the browser and the server, so that the connection can be interrupted. */
const proxy = await InterruptibleProxy.to(Number(new URL(url).port));
const shownUrl = `http://127.0.0.1:${proxy.port}`;
const browser = await launchChromium();
await mkdir(folder, { recursive: true });

const requested = values.only?.split(",");
for (const view of views) {
  const [colorScheme, width] = view.split("-") as ["light" | "dark", string];
  const context = await browser.newContext({
    colorScheme,
    locale: values.language,
    reducedMotion: "reduce",
    deviceScaleFactor: Number(values.scale),
    viewport: {
      width: Number(width),
      height: Number(width) < 600 ? 844 : Number(values.height),
    },
  });
  const [name, value] = cookie.split("=") as [string, string];
  await context.addCookies([{ name, value, url: shownUrl }]);
  for (const page of pages)
    if (requested === undefined || requested.includes(page.name))
      await takeScreenshot(context, page, view);
  await context.close();
}
await browser.close();
server.kill();
await rm(home, { recursive: true, force: true });
process.exit(0);

async function takeScreenshot(
  context: BrowserContext,
  { name, path, isGuest, act }: PageToShow,
  view: string,
): Promise<void> {
  const cookies = await context.cookies();
  if (isGuest === true) await context.clearCookies();
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    process.stdout.write(`${name} ${view}: ${error.message}\n`);
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      process.stdout.write(`${name} ${view}: ${message.text()}\n`);
  });
  // Programs beside it may need the processor.
  page.setDefaultTimeout(120_000);
  await page.goto(`${shownUrl}/#${path(ids)}`, { timeout: 120_000 });
  await settle(page);
  await act?.(page).catch((error: unknown) => {
    process.stdout.write(`${name} ${view}: ${String(error)}\n`);
  });
  await page.waitForTimeout(300);
  if (values.disconnected === true) {
    proxy.interrupt();
    await page.waitForTimeout(1_500);
  }
  const type = values.png === true ? "png" : "jpeg";
  await page.screenshot({
    path: join(folder, `${name}-${view}.${type === "png" ? "png" : "jpg"}`),
    ...(type === "jpeg" ? { type, quality: 62 } : { type }),
  });
  await page.close();
  proxy.restore();
  if (isGuest === true) await context.addCookies(cookies);
}

async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("load");
  // Placeholders of what is being loaded.
  await page
    .waitForFunction(() => document.querySelector(".skeleton") === null)
    .catch(() => undefined);
  await page.waitForTimeout(Number(values.wait));
}

async function readIds(): Promise<Ids> {
  const first = async (type: string, filter = "") => {
    for (let tries = 0; tries < 1_200; tries++) {
      const answer = await fetch(
        `${url}/rest/v0/${type}?limit=1&fields=id&filter=${encodeURIComponent(filter)}`,
        { headers: { cookie } },
      );
      const [one] = (await answer.json()) as { id: string }[];
      if (one !== undefined || demo.length === 0) return one?.id ?? "none";
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return "none";
  };
  return {
    vm: await first("vms", "power_state:Running"),
    halted: await first("vms", "power_state:Halted"),
    template: await first("vm-templates"),
    snapshot: await first("vm-snapshots"),
    host: await first("hosts"),
    pool: await first("pools"),
    sr: await first("srs", "content_type:user shared?"),
    network: await first("networks"),
  };
}
