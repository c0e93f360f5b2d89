/// <reference lib="dom" />
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");
const skip = noBrowserReason() ?? false;

t.test("actions that fail", { skip, ...LIMIT }, async (t) => {
  const { admin, list, url } = await startStorageBench(t);
  const browser = await openBrowser(t);
  const open = async (t: Test, path: string) => {
    const options = { browser, url, path, cookie: admin.cookie };
    const { page } = await openPage(t, options);
    await page.getByRole("heading", { level: 1 }).waitFor();
    return page;
  };

  t.test("a dialog keeps what was entered, and shows the error", async (t) => {
    const [vlan] = await list("pifs", "vlan:>0");
    const page = await open(t, `/pools/${String(vlan!["$pool"])}`);
    await page.getByRole("button", { name: "New network…" }).click();
    const dialog = page.getByRole("dialog");
    const submit = dialog.getByRole("button", { name: "New network" });
    await submit.click();
    const name = dialog.getByLabel("Name");
    t.ok(
      await name.evaluate((field) => field === document.activeElement),
      "the first field with an error gets the focus",
    );
    await name.fill("Quarantine");
    await dialog.getByLabel("VLAN").fill(String(vlan!["vlan"]));
    const nic = dialog.getByLabel("Interface");
    await nic.selectOption({ label: String(vlan!["device"]) });
    await submit.click();
    await dialog.getByText(/already exists/).waitFor();
    t.equal(await name.inputValue(), "Quarantine");
    t.same(await violations(page), []);

    await dialog.getByLabel("VLAN").fill("3999");
    await submit.click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("log").getByText(/^Done/).waitFor();
    t.equal((await list("networks", "name_label:Quarantine")).length, 1);
  });

  t.test("the Back button closes the dialog of an action", async (t) => {
    const [pool] = await list("pools");
    const page = await open(t, "/pools");
    await page
      .getByRole("link", { name: String(pool!["name_label"]), exact: true })
      .click();
    await page.getByRole("button", { name: "New network…" }).click();
    await page.getByRole("dialog").waitFor();
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Pools", level: 1 }).waitFor();
  });

  t.test("failed objects are retried from the tasks", async (t) => {
    const ids = (await list("vms", "power_state:Running"))
      .slice(0, 2)
      .map(({ id }) => id);
    await admin.request("bulk.run", { method: "vm.start", ids });
    const page = await open(t, "/tasks");
    const details = page
      .getByRole("main")
      .getByRole("button", { name: /^Details: failed objects of Start/ });
    await details.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The VM is running").first().waitFor();
    t.same(await violations(page), []);
    await dialog.getByRole("button", { name: "Retry 2 failed" }).click();
    await details.nth(1).waitFor();
    t.equal(await details.count(), 2, "the retry is a task of its own");
  });
});
