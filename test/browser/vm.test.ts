/// <reference lib="dom" />
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { startStorageBench, type Row } from "../storage-bench.js";
import { violations } from "./axe.js";
import { fitsWindow, narrow, openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("the page of a VM", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, server, url } = bench;
  const running = await list("vms", "power_state:Running");
  const vm = running[0]!;
  const nameOf = (row: Row) => String(row["name_label"]);
  const nameNow = async () => nameOf((await list("vms", `id:${vm.id}`))[0]!);
  const browser = await openBrowser(t);

  const open = async (
    t: Test,
    path: string,
    { cookie = admin.cookie, view = wide } = {},
  ) => {
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie,
      view,
    });
    await page.getByRole("heading", { level: 1 }).waitFor();
    return { page, consoleErrors };
  };
  const heading = (page: Page, name: string) =>
    page.getByRole("heading", { level: 1 }).getByText(name, { exact: true });

  t.test("its name is edited in place, and the change undone", async (t) => {
    const { page, consoleErrors } = await open(t, `/vms/${vm.id}`);
    const before = nameOf(vm);
    await heading(page, before).waitFor();
    await rename(page, "given up", "Escape");
    await heading(page, before).waitFor();
    await rename(page, "renamed", "Enter");
    await heading(page, "renamed").waitFor();
    while ((await nameNow()) !== "renamed") continue;
    t.pass("the pool knows it");
    await page.getByRole("button", { name: "Undo" }).click();
    await heading(page, before).waitFor();
    while ((await nameNow()) !== before) continue;
    t.pass("and knows that it was taken back");
    t.same(consoleErrors, []);
  });

  t.test("many tags are folded, and no name changes direction", async (t) => {
    const { id } = running.at(-1)!;
    const tags = Array.from({ length: 15 }, (_, at) => `tag-${10 + at}`);
    const name_label = "\u202elive\u202c";
    await admin.request("vm.set", { id, tags, name_label });
    const { page } = await open(t, `/vms/${id}`);
    await heading(page, "live").waitFor();
    const list = page.getByRole("list", { name: "Tags" });
    await list.getByText("tag-21").waitFor();
    t.equal(await list.getByText("tag-22").count(), 0);
    await list.getByRole("button", { name: "3 more" }).click();
    await list.getByText("tag-24").waitFor();
  });

  t.test("a name of any length leaves the page in view", async (t) => {
    const { id } = running.at(-2)!;
    const name_description = "\u202eevil";
    const name_label = "long ".repeat(20_000);
    await admin.request("vm.set", { id, name_label, name_description });
    const { page } = await open(t, `/vms/${id}`);
    const name = page.getByRole("button", { name: /^Name: long long/ });
    await name.waitFor();
    const { height } = (await name.boundingBox())!;
    t.ok(height < 200, `the name takes ${height} pixels`);
    await page.getByText("evil", { exact: true }).waitFor();
  });

  t.test("a user without the right cannot edit the name", async (t) => {
    const { cookie } = await bench.addUser("viewer", { [vm.id]: "viewer" });
    const { page } = await open(t, `/vms/${vm.id}`, { cookie });
    await heading(page, nameOf(vm)).waitFor();
    const name = page.getByRole("button", { name: /^Name: / });
    await name.waitFor({ state: "detached" });
    t.equal(await nameNow(), nameOf(vm));
  });

  t.test("a disk is created and detached", async (t) => {
    const { page, consoleErrors } = await open(t, `/vms/${vm.id}/disks`);
    const rows = page.getByRole("row");
    await rows.nth(1).waitFor();
    await page.getByRole("button", { name: "New disk…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("for the test");
    const [pool] = await list("pools");
    const sr = dialog.getByLabel("SR");
    await sr
      .locator("option:checked:not([value=''])")
      .waitFor({ state: "attached" });
    t.equal(
      await sr.inputValue(),
      pool!["default_SR"],
      "the default SR of the pool is selected",
    );
    await dialog.getByRole("button", { name: "Create" }).click();
    const row = rows.filter({ hasText: "for the test" });
    await row.getByText("Connected", { exact: true }).waitFor();
    t.match(await row.textContent(), /10 GiB/);
    await row
      .getByRole("button", { name: "More actions for for the test" })
      .click();
    await page.getByRole("menuitem", { name: "Detach disk…" }).click();
    await dialog.getByRole("button", { name: "Detach" }).click();
    await row.waitFor({ state: "detached" });
    t.same(consoleErrors, []);
  });

  t.test(
    "reverting takes a snapshot first, and the tree shows it",
    async (t) => {
      const name = "before all";
      await admin.request("vm.snapshot", { id: vm.id, name });
      const { page, consoleErrors } = await open(t, `/vms/${vm.id}/snapshots`);
      const line = (words: string | RegExp) =>
        page.getByRole("listitem").filter({ hasText: words });
      await line(name).waitFor();
      await page.getByRole("button", { name: `Revert to ${name}` }).click();
      const dialog = page.getByRole("dialog");
      t.ok(await dialog.getByRole("checkbox").isChecked());
      await dialog.getByRole("button", { name: "Revert" }).click();
      await line(/_before_revert_/).waitFor();
      // Reverting ends with the start of the VM.
      await page.getByRole("log").getByText("Done").waitFor();
      const lines = await page.locator(".tree > li").allTextContents();
      t.match(lines.at(-1), /Current state/);
      t.equal(
        lines.filter((words) => words.includes("Current state")).length,
        1,
      );
      t.same(consoleErrors, []);
    },
  );

  t.test(
    "the console stays connected while other tabs are shown",
    async (t) => {
      const { page, consoleErrors } = await open(t, `/vms/${running[1]!.id}`);
      let sockets = 0;
      page.on("websocket", (socket) => {
        if (socket.url().includes("/api/consoles/")) sockets++;
      });
      const tab = (name: string) =>
        page.getByRole("link", { name, exact: true }).click();
      await tab("Console");
      await page.getByText("Connected", { exact: true }).waitFor();
      await page.waitForFunction(
        () => (document.querySelector("canvas")?.width ?? 0) > 100,
      );
      await tab("General");
      await page.getByRole("heading", { name: "Hardware" }).waitFor();
      t.notOk(await page.getByRole("application").isVisible());
      await tab("Console");
      await page.getByRole("application").waitFor();
      t.ok(await page.getByText("Connected", { exact: true }).isVisible());
      t.equal(sockets, 1, "it was opened once");
      t.same(consoleErrors, []);
    },
  );

  t.test("the record of XAPI, searched", async (t) => {
    const { page, consoleErrors } = await open(t, `/vms/${vm.id}/raw`);
    const row = (name: string) =>
      page.getByRole("row").filter({
        has: page.getByRole("rowheader", { name, exact: true }),
      });
    t.match(await row("uuid").textContent(), vm.id);
    await page.getByRole("searchbox").last().fill("power_state");
    await row("uuid").waitFor({ state: "detached" });
    await row("power_state").getByText("Running").waitFor();
    t.same(consoleErrors, []);
  });

  t.test("a deleted object has a notice", async (t) => {
    const id = "00000000-0000-4000-8000-000000000000";
    const { page } = await open(t, `/vms/${vm.id}`);
    await page.goto(`${url}/#/vms/${id}`);
    await page.getByText("No such VM").waitFor();
    t.same(await violations(page), []);
  });

  for (const view of [wide, narrow])
    t.test(`no accessibility violations: ${view.colorScheme}`, async (t) => {
      const { page } = await open(t, `/vms/${running[2]!.id}`, { view });
      await page.getByText("No scheduled backups or snapshots").waitFor();
      t.same(await violations(page), [], "general");
      const tabs = {
        disks: () => page.getByRole("button", { name: "New disk…" }),
        network: () => page.getByRole("columnheader", { name: "MAC" }),
        advanced: () => page.getByText("Blocked operations"),
        raw: () => page.getByRole("rowheader", { name: "uuid", exact: true }),
      };
      for (const [tab, ready] of Object.entries(tabs)) {
        await page.goto(`${url}/#/vms/${running[2]!.id}/${tab}`);
        await ready().waitFor();
        t.same(await violations(page), [], tab);
        t.ok(await fitsWindow(page), `${tab} is not wider than the window`);
      }
      await page.goto(`${url}/#/vms/${vm.id}/snapshots`);
      await page.getByText("Current state", { exact: true }).waitFor();
      t.same(await violations(page), [], "snapshots");
    });

  t.test("without the server the last known data is shown", async (t) => {
    const { page } = await open(t, `/vms/${vm.id}`);
    await heading(page, nameOf(vm)).waitFor();
    await server.stop();
    await page.getByText("Last known state").waitFor();
    await heading(page, nameOf(vm)).waitFor();
    await rename(page, "in vain", "Enter");
    await page.getByText("Name was not changed").waitFor();
    await heading(page, nameOf(vm)).waitFor();
    t.pass("nothing pretends to have happened");
  });
});

async function rename(page: Page, name: string, key: string): Promise<void> {
  await page.getByRole("button", { name: /^Name: / }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.keyboard.press(key);
}
