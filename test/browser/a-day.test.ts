/// <reference lib="dom" />
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { consoleErrorsOf, noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

/** Path of a screenshot of the final state. */
const screenshots = process.env["SCREENSHOTS"];
const PASSWORD = "a day at work";

t.test(
  "a user's day: from the first pool to a migration that is undone",
  { skip: noBrowserReason() ?? false, ...LIMIT },
  async (t) => {
    const address = await startPool(t);
    const url = await startServer(t);
    const browser = await openBrowser(t);
    const page = await browser.newPage({
      viewport: { width: 1440, height: 900 },
      locale: "en-US",
      reducedMotion: "reduce",
    });
    const consoleErrors = consoleErrorsOf(page);
    t.teardown(async () => {
      if (screenshots !== undefined)
        await page.screenshot({ path: `${screenshots}/a-day.png` });
    });

    await page.goto(url);
    await signIn(page);
    await page.getByText("Welcome. Connect your first pool").waitFor();
    t.pass("without pools the page begins with adding the first one");

    await page.getByLabel("Host address").fill(address);
    await page.getByLabel("User name", { exact: true }).fill("root");
    await page.getByLabel("Password", { exact: true }).fill("password");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("SHA-256 fingerprint").waitFor();
    t.match(
      await page.locator("main").textContent(),
      /([0-9A-F]{2}:){31}[0-9A-F]{2}/,
      "its certificate is shown before a password is sent",
    );
    await page.getByRole("button", { name: "Accept certificate" }).click();
    await page.waitForURL(/#\/$/);
    await page.getByText("all connected").waitFor();
    t.pass("the pool is there, and so is the overview");

    const name = await findBusiest(page);
    t.match(name, /\w/, `the VM that eats CPU is ${name}`);

    await page.getByRole("link", { name: "Console", exact: true }).click();
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.waitForFunction(
      () => document.querySelector("canvas")?.width !== undefined,
    );
    t.pass("its console is open");

    await page.getByRole("button", { name: "Snapshot…" }).click();
    await inDialog(page, "before the move");
    await page.getByRole("link", { name: /^Snapshots/ }).click();
    await page.getByText("before the move").first().waitFor();
    t.pass("a snapshot was taken, and shows");

    await page.getByRole("link", { name: "General" }).click();
    const home = await hostOf(page);
    await page.getByRole("button", { name: "Migrate…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio").first().waitFor();
    await dialog.getByRole("button", { name: "Migrate", exact: true }).click();
    await page.getByRole("button", { name: /^Tasks/ }).click();
    await page
      .getByRole("dialog", { name: "Tasks" })
      .getByText(/migrate/i)
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
    t.pass("the task can be watched");
    await untilHost(page, (host) => host !== home);
    t.pass("it runs elsewhere");

    await page
      .locator(".toast", { hasText: "Migrate" })
      .getByRole("button", { name: "Undo" })
      .click();
    await untilHost(page, (host) => host === home);
    t.pass("and is back where it was");
    t.same(
      consoleErrors.filter((one) => !one.includes("401")),
      [],
    );
  },
);

/** @returns the address of the host */
async function startPool(t: Test): Promise<string> {
  const pool = new RunningProgram(t, "xapi-sim", [
    "--pool",
    "C",
    "--members",
    "99",
    "--churn",
    "5",
    "--tls",
    "--json",
    "--pace",
    "0.2",
  ]);
  const line = await pool.find(/(\{"pools":.*)/);
  const { pools } = JSON.parse(line) as { pools: { url: string }[] };
  return new URL(pools[0]!.url).host;
}

/** Starts without any pool. @returns the address of the page */
function startServer(t: Test): Promise<string> {
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--host", "127.0.0.1", "--port", "0"],
    { env: { XO_ADMIN_PASSWORD: PASSWORD } },
  );
  return server.find(/Web server listening on (http:\S+)/);
}

/** A wrong password first: the form reports it, and no dialog of the browser opens. */
async function signIn(page: Page): Promise<void> {
  await page.getByLabel("User name or e-mail").fill("admin");
  await page.getByLabel("Password").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("Wrong user name or password").waitFor();
  // The server refuses attempts within 2 s of a failed one.
  await page.waitForTimeout(2_500);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
}

/** Opens the page of a VM from the list of all VMs, by its current metrics. */
async function findBusiest(page: Page): Promise<string> {
  await page.locator("#side-bar").getByRole("link", { name: "VMs" }).click();
  const rows = page.getByRole("row");
  await rows.nth(10).waitFor();
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.getByRole("menuitem", { name: "Highest CPU usage" }).click();
  await page.waitForURL(/cpu/);
  // The first round of statistics takes some seconds.
  await page
    .getByText(/\d %|\d%/)
    .first()
    .waitFor();
  // A migration with its storage cannot be undone.
  for (let rank = 1; ; rank++) {
    const name = rows.nth(rank).getByRole("link").first();
    const text = (await name.textContent()) ?? "";
    await name.click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    if (!(await needsStorageMigration(page))) return text.trim();
    await page.goBack();
    await rows.nth(rank + 1).waitFor();
  }
}

async function needsStorageMigration(page: Page): Promise<boolean> {
  await page.getByRole("button", { name: "Migrate…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio").first().waitFor();
  const text = (await dialog.textContent()) ?? "";
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  return text.includes("Requires storage migration");
}

/** Enters the name of the new object, and creates it. */
async function inDialog(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: /^Snapshot/ }).click();
  await dialog.waitFor({ state: "detached" });
}

function hostLink(page: Page) {
  return page.locator('main a[href^="#/hosts/"]').first();
}

async function hostOf(page: Page): Promise<string> {
  return (await hostLink(page).textContent()) ?? "";
}

async function untilHost(
  page: Page,
  isWanted: (host: string) => boolean,
): Promise<void> {
  while (!isWanted(await hostOf(page))) await page.waitForTimeout(100);
}
