import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");
const skip = noBrowserReason() ?? false;

t.test("a choice among many objects", { skip, ...LIMIT }, async (t) => {
  // Each host has a local SR: more than fit into a drop-down list.
  const { admin, list, url } = await startStorageBench(
    t,
    "--pool",
    "C",
    "--hosts",
    "120",
    "--vms",
    "20",
  );
  const browser = await openBrowser(t);
  const [vm] = await list("vms", "power_state:Halted");
  const srs = await list("srs", "content_type:user");
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: `/vms/${vm!.id}`,
    cookie: admin.cookie,
  });
  await page.getByRole("button", { name: "More" }).first().click();
  await page.getByRole("menuitem", { name: /^Copy/ }).click();
  const dialog = page.getByRole("dialog");
  // A drop-down list until the number of SRs is known.
  const field = dialog
    .getByRole("combobox", { name: "SR", exact: true })
    .and(page.locator("input"));
  const options = page.locator(".search-box-item");
  // Of the combobox: other fields of the dialog have options, too.
  const more = page.getByText(
    `${srs.length - 100} more: type to narrow the search.`,
  );

  t.test("the number of objects that are not listed is shown", async (t) => {
    await field.click();
    await more.waitFor();
    t.equal(await options.count(), 101, "100 objects, and none");
    t.same(consoleErrors, []);
  });

  t.test("labels of several lines do not overlap", async (t) => {
    await page.setViewportSize({ width: 320, height: 900 });
    const heights = await options.evaluateAll((all) =>
      all.map(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight]),
    );
    await page.setViewportSize({ width: wide.width, height: 900 });
    t.ok(
      heights.some(([needed]) => needed! > 40),
      "some labels need two lines",
    );
    t.same(
      heights.filter(([needed, shown]) => needed! > shown!),
      [],
    );
  });

  t.test("objects that match the typed words are found", async (t) => {
    await field.fill("NFS");
    await more.waitFor({ state: "detached" });
    const labels = await options.allTextContents();
    t.ok(labels.length > 0);
    t.ok(
      labels.every((label) => label.includes("NFS")),
      labels.join(),
    );
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    t.match(await field.inputValue(), /NFS/);
    t.same(consoleErrors, []);
  });

  t.test("an optional choice is cleared", async (t) => {
    await field.click();
    await options.filter({ hasText: /^\s*none\s*$/ }).click();
    t.equal(await field.inputValue(), "");
    t.same(consoleErrors, []);
  });

  t.test("Escape closes the list, and not the dialog", async (t) => {
    await field.click();
    await more.waitFor();
    await page.keyboard.press("Escape");
    await more.waitFor({ state: "detached" });
    t.ok(await dialog.isVisible());
  });

  t.test("images of ISO libraries are not attached as disks", async (t) => {
    const isoSrs = await list("srs", "content_type:iso");
    const images = await list(
      "vdis",
      `$SR:|(${isoSrs.map(({ id }) => id).join(" ")})`,
    );
    t.ok(images.length > 0);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.goto(`${url}/#/vms/${vm!.id}/disks`);
    await page.getByRole("button", { name: "Attach disk…" }).click();
    const disks = dialog.getByRole("combobox", { name: "Disk" });
    await disks.locator("option", { hasText: "Select…" }).waitFor({
      state: "attached",
    });
    const names = await disks.locator("option").allTextContents();
    for (const image of images)
      t.notOk(
        names.some((one) => one.includes(String(image["name_label"]))),
        String(image["name_label"]),
      );
    t.same(consoleErrors, []);
  });
});
