import t, { type Test } from "tap";
import type { Download, Page } from "playwright-core";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

/** A list of three halted VMs, all of them selected. */
async function selectThree(t: Test) {
  const bench = await startStorageBench(t);
  const halted = await bench.list("vms", "power_state:Halted");
  const vms = halted
    .toSorted((a, b) =>
      String(a["name_label"]).localeCompare(String(b["name_label"])),
    )
    .slice(0, 3);
  const names = vms.map(({ name_label }) => String(name_label));
  const query = `power_state:Halted |(${names.map((name) => `name_label:/^${name}$/`).join(" ")})`;
  const { page, consoleErrors } = await openPage(t, {
    browser: await openBrowser(t),
    url: bench.url,
    path: `/vms?q=${encodeURIComponent(query)}`,
    cookie: bench.admin.cookie,
  });
  await page.getByRole("grid").locator(".row .object.name").nth(2).waitFor();
  await page.keyboard.press("Control+a");
  await page
    .getByRole("region", { name: "Selection" })
    .getByText("3 selected")
    .waitFor();
  return { ...bench, vms, names, page, consoleErrors };
}

async function choose(page: Page, action: RegExp): Promise<void> {
  await page
    .getByRole("region", { name: "Selection" })
    .getByRole("button", { name: "More" })
    .click();
  await page.getByRole("menuitem", { name: action }).click();
}

t.test("several VMs are copied to an SR", { skip, ...LIMIT }, async (t) => {
  const { list, names, page, consoleErrors } = await selectThree(t);
  await choose(page, /^Copy/);
  const dialog = page.getByRole("dialog");
  const pattern = dialog.getByLabel("Names of the copies");
  t.equal(await pattern.inputValue(), "{name} copy");
  await pattern.fill("test of {name}");
  await dialog.getByLabel("Type of copy").selectOption("elsewhere");

  await checkViews(t, page, "the form of several copies");
  const [sr] = await list("srs", "content_type:user");
  await dialog.getByLabel("SR", { exact: true }).selectOption(sr!.id);
  await dialog.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByText("All 3 done").waitFor();
  for (const name of names)
    t.equal(
      (await list("vms", `name_label:/^test of ${name}$/`)).length,
      1,
      `a copy of ${name}`,
    );
  t.same(consoleErrors, []);
});

t.test(
  "several VMs are exported, one download after another",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, vms, names, page, consoleErrors } = await selectThree(t);
    const downloads: Download[] = [];
    page.on("download", (download) => downloads.push(download));
    // One of them has been deleted meanwhile.
    const [, gone] = vms;
    await choose(page, /^Export/);
    const dialog = page.getByRole("dialog");
    await dialog.getByText("One file for each VM").waitFor();
    await checkViews(t, page, "the form of several exports");
    await admin.request("vm.delete", { id: gone!.id });
    await dialog.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByText("2 done, 1 failed").waitFor();
    t.same(
      downloads.map((download) => download.suggestedFilename()),
      [names[0], names[2]].map((name) => `${name}.xva`),
    );
    for (const download of downloads) t.ok(await download.path());
    await page.getByRole("button", { name: "Details" }).click();
    await page.getByRole("dialog").getByText(names[1]!).waitFor();
    // In order, not at the same time.
    const tasks = await admin.request<
      { start: number; end: number; properties: { operation?: string } }[]
    >("task.list", {});
    const [one, other] = tasks
      .filter(({ properties }) => properties.operation === "vm.export")
      .toSorted((a, b) => a.start - b.start);
    t.ok(one!.end <= other!.start);
    t.same(consoleErrors, []);
  },
);
