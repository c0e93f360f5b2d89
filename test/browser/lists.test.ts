/// <reference lib="dom" />
import t, { type Test } from "tap";
import type { Page } from "playwright-core";
import { startStorageBench } from "../storage-bench.js";
import { openPage, wide, type View } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");
/** Missing rows are reported before the time limit of the file. */
const ROWS_TIMEOUT_MS = 60_000;
const skip = noBrowserReason() ?? false;

t.test("lists of objects", { skip, ...LIMIT }, async (t) => {
  const shared = await setUp(t);
  const { open, until, names, vms, admin } = shared;

  t.test("a click on a head orders; another filter, and back", (t) =>
    sortAndBack(t, shared),
  );

  t.test("the address contains the whole view; no matching objects", (t) =>
    viewInAddress(t, shared),
  );

  t.test("rows are loaded when scrolled to", (t) => scrolling(t, shared));

  t.test("by keyboard: select some, all, preview one, open it", (t) =>
    selectionByKeyboard(t, shared),
  );

  t.test("objects in several groups are counted once", (t) =>
    countOfGroups(t, shared),
  );

  t.test("groups open and close and show their own rows", (t) =>
    openGroups(t, shared),
  );

  t.test("a view is saved, for other browsers too", (t) =>
    savedView(t, shared),
  );

  t.test("under the pointer rows keep their place", (t) =>
    rowsUnderPointer(t, shared),
  );

  t.test("the list is exported as CSV", (t) => csvExport(t, shared));

  t.test("columns are selected, and stored in the browser", (t) =>
    selectedColumns(t, shared),
  );

  for (const language of ["en-US", "de-DE"])
    t.test(`no value is cut at 1440 pixels: ${language}`, async (t) => {
      const { id } = vms.find(({ name_label }) => name_label === names[0])!;
      const longName = `${names[0]!} with a name that is longer than its column`;
      await admin.request("vm.set", { id, name_label: longName });
      const { page, grid } = await open(t, "/vms", wide, language);
      await until(page, [longName]);
      // Bars and rates have values when the first statistics arrive.
      await grid.locator(".cell.share .bar").first().waitFor();
      await grid.locator(".cell.rate", { hasText: "/s" }).first().waitFor();
      const cut = await grid
        .locator(".cell:not(.name, .system, .object)")
        .evaluateAll((cells) =>
          cells
            .filter((cell) =>
              [cell, ...cell.querySelectorAll("*")].some(
                ({ clientWidth, scrollWidth }) =>
                  clientWidth > 0 && scrollWidth > clientWidth,
              ),
            )
            .map(({ textContent }) => textContent.trim()),
        );
      t.same(cut, []);
      t.ok(
        await grid.evaluate((box) => box.scrollWidth <= box.clientWidth),
        "the list does not scroll horizontally",
      );
      await page.getByRole("link", { name: longName }).hover();
      await page.getByTitle(longName).waitFor();
      await admin.request("vm.set", { id, name_label: names[0]! });
    });

  // The last one: the pool does not return.
  t.test("a lost pool shows in rows, header and alarms", (t) =>
    disconnectedPool(t, shared),
  );
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const bench = await startStorageBench(t);
  const { admin, list, url } = bench;
  const vms = await list("vms");
  const byName = (filter: (vm: (typeof vms)[number]) => boolean = () => true) =>
    vms
      .filter(filter)
      .map(({ name_label }) => String(name_label))
      .sort();
  const names = byName();
  const running = byName((vm) => vm["power_state"] === "Running");
  const browser = await openBrowser(t);

  const open = async (
    t: Test,
    path = "/vms",
    view: View = wide,
    language = "en-US",
  ) => {
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie: admin.cookie,
      view,
      language,
    });
    const grid = page.getByRole("grid");
    await grid.locator(".row:not(:has(.waiting))").first().waitFor();
    return { page, grid, consoleErrors };
  };
  /** Names of the rendered rows, from the top. */
  const shown = (page: Page) =>
    page.locator(".row:not(:has(.waiting)) .object.name").allTextContents();
  /** Waits until these are the first rows. */
  const until = async (page: Page, first: readonly string[]) => {
    const deadline = performance.now() + ROWS_TIMEOUT_MS;
    for (;;) {
      const names = await shown(page);
      if (first.every((name, at) => names[at] === name)) return;
      if (performance.now() > deadline)
        throw new Error(
          `the rows are ${names.join(", ")}, and not ${first.join(", ")}`,
        );
      await page.waitForTimeout(50);
    }
  };
  /** Waits until the list has this many objects. */
  const counted = (page: Page, objects: number) =>
    page.locator(`[role=grid][aria-rowcount="${objects + 1}"]`).waitFor();
  return { open, until, names, counted, running, vms, url, admin, bench };
}

async function sortAndBack(
  t: Test,
  { open, until, names, counted, running }: Bench,
) {
  const { page, grid, consoleErrors } = await open(t);
  await until(page, names.slice(0, 5));
  await grid.getByRole("button", { name: "Name" }).click();
  await until(page, names.slice(-5).reverse());
  await page.waitForURL(/sort=-name_label/);
  await page.getByRole("button", { name: /^Running/ }).click();
  // The first rows may be the same with and without the filter.
  await counted(page, running.length);
  await until(page, running.slice(-5).reverse());
  t.match(decodeURIComponent(page.url()), "q=power_state:Running");
  await page.goBack();
  await page.goBack();
  await counted(page, names.length);
  await until(page, names.slice(0, 5));
  t.same(consoleErrors, []);
}

async function viewInAddress(
  t: Test,
  { open, counted, running, until, names }: Bench,
) {
  const { page } = await open(
    t,
    "/vms?q=power_state%3ARunning&sort=-name_label&columns=name_label,vcpus",
  );
  await counted(page, running.length);
  await until(page, running.slice(-5).reverse());
  const heads = await page.getByRole("columnheader").allTextContents();
  t.same(heads.map((text) => text.trim()).filter(Boolean), ["Name", "vCPUs"]);
  await page.keyboard.press("/");
  await page.keyboard.type(" tags:nowhere");
  await page.getByText("No matching objects.").waitFor();
  await page.getByRole("button", { name: "Clear filter" }).last().click();
  await counted(page, names.length);
  await until(page, names.slice(-5).reverse());
}

async function scrolling(t: Test, { open, names }: Bench) {
  const { page, grid } = await open(t);
  const drawn = await page.locator(".row").count();
  t.ok(drawn < names.length, "not all are on the page");
  await grid.evaluate((box) => {
    box.scrollTop = box.scrollHeight;
  });
  await page.getByRole("link", { name: names.at(-1)! }).waitFor();
  const ids = await page
    .locator(".row")
    .evaluateAll((rows) => rows.map((row) => row.ariaRowIndex));
  t.equal(Math.max(...ids.map(Number)), names.length + 1);
}

async function selectionByKeyboard(
  t: Test,
  { open, until, names, vms, url }: Bench,
) {
  const { page, grid } = await open(t);
  await until(page, names.slice(0, 5));
  for (const key of ["j", "j", "x", "J", "J"]) await page.keyboard.press(key);
  const selection = page.getByRole("region", { name: "Selection" });
  await selection.getByText("3 selected").waitFor();
  await selection.getByRole("button", { name: "More", exact: true }).waitFor();
  await page.keyboard.press("Control+a");
  await selection.getByText(`${names.length} selected`).waitFor();
  await page.keyboard.press("Escape");
  await selection.waitFor({ state: "detached" });
  await page.keyboard.press("o");
  const peek = page.getByRole("complementary", {
    name: `Preview of ${names[3]!}`,
  });
  await peek.getByRole("link", { name: "Open details" }).waitFor();
  await page.keyboard.press("Escape");
  await peek.waitFor({ state: "detached" });
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Shift + J").waitFor();
  await page.keyboard.press("Escape");
  await grid.press("End");
  await page.getByRole("link", { name: names.at(-1)! }).waitFor();
  await page.keyboard.press("Enter");
  const last = vms.find(({ name_label }) => name_label === names.at(-1))!;
  await page.waitForURL(`${url}/#/vms/${last.id}`);
}

async function countOfGroups(t: Test, { vms, admin, bench, open }: Bench) {
  const [first, second] = vms;
  for (const vm of [first!, second!])
    await admin.request("vm.set", {
      id: vm.id,
      tags: ["one", "two", "three"],
    });
  await bench.untilGone("vms", `id:${first!.id} !tags:three`);
  await bench.untilGone("vms", `id:${second!.id} !tags:three`);
  const { page } = await open(t, "/vms?group=tags");
  const group = page.getByRole("row", { name: /^three/ });
  await group.getByText("2", { exact: true }).waitFor();
  await page.getByRole("row", { name: /^\(no tags\)/ }).waitFor();
  await page.getByRole("button", { name: "Group: tag" }).waitFor();
  await page
    .getByRole("main")
    .locator("header")
    .getByText(`${vms.length} objects`, { exact: true })
    .waitFor();
}

async function openGroups(t: Test, { open, until, running }: Bench) {
  const { page } = await open(t, "/vms");
  await page.getByRole("button", { name: "Group" }).click();
  await page.getByRole("menuitem", { name: "Group by state" }).click();
  const group = page.getByRole("row", { name: /^Running/ });
  await group.waitFor();
  const rows = page.locator(".row .object.name");
  await rows.first().waitFor({ state: "detached" });
  await group.getByRole("button").click();
  await until(page, running.slice(0, 5));
  t.match(page.url(), "group=power_state");
  await group.getByRole("button").click();
  await rows.first().waitFor({ state: "detached" });
}

async function savedView(t: Test, { open, counted, running, until }: Bench) {
  const first = await open(t, "/vms?q=power_state%3ARunning&sort=-name_label");
  await first.page.getByRole("button", { name: "View" }).click();
  await first.page.getByRole("menuitem", { name: "Save as view…" }).click();
  await first.page.getByLabel("Name", { exact: true }).fill("Mine");
  await first.page.keyboard.press("Enter");
  await first.page.getByText("View “Mine” saved").waitFor();
  const { page } = await open(t);
  await page.getByRole("button", { name: "All", exact: true }).last().click();
  await page.getByRole("menuitem", { name: "Mine" }).click();
  await counted(page, running.length);
  await until(page, running.slice(-5).reverse());
}

async function rowsUnderPointer(
  t: Test,
  { open, until, names, vms, admin }: Bench,
) {
  const { page, grid } = await open(t);
  await until(page, names.slice(0, 5));
  await grid.locator(".row").nth(2).hover();
  // For a second after a request, the page loads no other rows.
  await page.waitForTimeout(1_200);
  const vm = vms.find(({ name_label }) => name_label === names[1])!;
  const name_label = `zz ${names[1]!}`;
  await admin.request("vm.set", { id: vm.id, name_label });
  const button = page.getByRole("button", {
    name: /^Sort order is outdated/,
  });
  await button.waitFor();
  await until(page, [names[0]!, name_label, names[2]!]);
  await button.click();
  await until(page, [names[0]!, names[2]!, names[3]!]);
  await button.waitFor({ state: "detached" });
  await admin.request("vm.set", { id: vm.id, name_label: names[1]! });
  await page.mouse.move(700, 20);
  await until(page, names.slice(0, 3));
}

async function csvExport(t: Test, { open, names }: Bench) {
  const { page } = await open(t, "/vms?columns=name_label,power_state,vcpus");
  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: /as CSV$/ }).click();
  const file = await waiting;
  t.equal(file.suggestedFilename(), "VM.csv");
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream())
    chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString().trim().split("\r\n");
  t.equal(lines.length, names.length + 1);
  t.match(lines[1], new RegExp(`^${names[0]!},`));
}

async function selectedColumns(t: Test, { open }: Bench) {
  const { page, grid } = await open(t);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "vCPUs" }).check();
  await page.getByRole("button", { name: "Close" }).last().click();
  await grid.getByRole("columnheader", { name: "vCPUs" }).waitFor();
  await page.reload();
  await grid.getByRole("columnheader", { name: "vCPUs" }).waitFor();
}

async function disconnectedPool(t: Test, { open, bench, url }: Bench) {
  const { page, grid } = await open(t);
  t.equal(await grid.locator(".row.lost").count(), 0);
  await bench.poolProgram.stop("SIGKILL");
  const header = page.getByRole("banner");
  await header.getByText("1 pool not connected").waitFor();
  await grid.locator(".row.lost").first().waitFor();
  await page.goto(`${url}/#/`);
  const alarms = page.getByRole("region", { name: "Alarms" });
  await alarms.getByText("Pool not connected").waitFor();
}
