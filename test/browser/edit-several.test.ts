import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("several VMs are edited", { skip, ...LIMIT }, async (t) => {
  const { admin, list, url } = await startStorageBench(t);
  const halted = await list("vms", "power_state:Halted");
  const names = halted
    .map(({ name_label }) => String(name_label))
    .sort()
    .slice(0, 2);
  const query = `power_state:Halted |(${names.map((name) => `name_label:/^${name}$/`).join(" ")})`;
  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: `/vms?q=${encodeURIComponent(query)}`,
    cookie: admin.cookie,
  });
  await page.getByRole("grid").locator(".row .object.name").nth(1).waitFor();
  await page.keyboard.press("Control+a");
  const selection = page.getByRole("region", { name: "Selection" });
  await selection.getByText("2 selected").waitFor();
  await selection.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: /^Edit settings/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("vCPUs").fill("3");
  await dialog.getByLabel("Memory (GiB)").fill("3");
  await dialog.getByLabel("High availability").selectOption("Restart");
  await dialog.getByLabel("Start with the host").selectOption("yes");
  await checkViews(t, page, "the form for several VMs");
  await dialog.getByRole("button", { name: "Edit settings" }).click();
  await page.getByText("All 2 done").waitFor();
  for (const name of names) {
    const [vm] = await list("vms", `name_label:/^${name}$/`);
    t.match(vm, {
      CPUs: { number: 3 },
      memory: { size: 3 * 2 ** 30 },
      high_availability: "restart",
      auto_poweron: true,
    });
  }
  t.same(consoleErrors, []);
});

t.test(
  "a bond of two free interfaces is created",
  { skip, ...LIMIT },
  async (t) => {
    // Its interfaces are not in a bond yet.
    const { admin, list, url } = await startStorageBench(t, "--pool", "host");
    const [pool] = await list("pools");
    const pifs = await list("pifs", "physical?");
    const idOf = (name: string) =>
      pifs.find(({ device }) => device === name)!.id;
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: `/pools/${pool!.id}`,
      cookie: admin.cookie,
    });
    const dialog = page.getByRole("dialog");
    await page
      .getByRole("group", { name: "Actions" })
      .getByRole("button", { name: "More" })
      .click();
    await page.getByRole("menuitem", { name: /^New bond/ }).click();
    await dialog.getByLabel("Name").fill("bond of two");
    await dialog.getByLabel("Interface 1").selectOption(idOf("eth1"));
    await dialog.getByLabel("Interface 2").selectOption(idOf("eth2"));
    await dialog.getByLabel("Bond mode").selectOption("lacp");
    await checkViews(t, page, "the form of a bond");
    await dialog.getByRole("button", { name: "New bond" }).click();
    await dialog.waitFor({ state: "detached" });
    await page
      .getByRole("log")
      .getByRole("listitem")
      .filter({ hasText: "New bond" })
      .filter({ hasText: "Done" })
      .waitFor();
    t.equal((await list("networks", '"bond of two"')).length, 1);
    const bonded = await list("pifs", "isBondSlave?");
    t.same(bonded.map(({ device }) => device).sort(), ["eth1", "eth2"]);
    t.same(consoleErrors, []);
  },
);
