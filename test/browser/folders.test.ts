import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("VMs are moved to folders", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, url } = bench;
  const vms = (await list("vms", "power_state:Halted"))
    .toSorted((a, b) =>
      String(a["name_label"]).localeCompare(String(b["name_label"])),
    )
    .slice(0, 3);
  const names = vms.map(({ name_label }) => String(name_label));
  for (const { id } of await list("vms"))
    await admin.request("vm.setFolder", { id, folder: null });
  const [first] = vms;
  await admin.request("vm.setFolder", {
    id: first!.id,
    folder: "/Production",
    create: true,
  });
  const folders = async () =>
    (await list("vms", "folder?")).map((vm) => vm["folder"]);
  const query = `power_state:Halted |(${names.map((name) => `name_label:/^${name}$/`).join(" ")})`;
  const { page, consoleErrors } = await openPage(t, {
    browser: await openBrowser(t),
    url,
    path: `/vms?q=${encodeURIComponent(query)}`,
    cookie: admin.cookie,
  });
  const dialog = page.getByRole("dialog");
  const selection = page.getByRole("region", { name: "Selection" });
  const move = async (folder: string) => {
    await selection.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Move to folder…" }).click();
    await dialog.getByLabel("Folder", { exact: true }).fill(folder);
  };

  t.test("several at once, and back again", LIMIT, async (t) => {
    await page.getByRole("grid").locator(".row .object.name").nth(2).waitFor();
    await page.keyboard.press("Control+a");
    await selection.getByText("3 selected").waitFor();
    await move("");
    const field = dialog.getByLabel("Folder", { exact: true });
    t.equal(await field.inputValue(), "", "an empty text stays empty");
    await field.fill("/Production");
    t.equal(
      await dialog.locator("datalist option").first().getAttribute("value"),
      "/Production",
      "known folders are proposed",
    );
    t.equal(await dialog.getByRole("status").count(), 0);
    await field.fill("/Production/Web");
    await dialog.getByText("The folder /Production/Web is new.").waitFor();
    await checkViews(t, page, "the form of a folder");
    await dialog.getByRole("button", { name: "Move to folder" }).click();
    await page.getByText("All 3 done").waitFor();
    t.same(await folders(), Array(3).fill("/Production/Web"));
    await page.getByRole("button", { name: "Undo" }).click();
    while ((await folders()).length !== 1) continue;
    t.same(await folders(), ["/Production"], "each is where it was");
  });

  t.test("the list is grouped by folder", LIMIT, async (t) => {
    await page.getByRole("button", { name: "Group" }).click();
    await page.getByRole("menuitem", { name: "Group by folder" }).click();
    const group = page.getByRole("row", { name: /^\/Production/ });
    await group.getByText("1", { exact: true }).waitFor();
    await page.getByRole("row", { name: /^\(no value\)/ }).waitFor();
    t.pass("with what is in none");
  });

  t.test("the page of a VM shows and changes it", LIMIT, async (t) => {
    await page.goto(`${url}/#/vms/${first!.id}`);
    await page.getByText("/Production", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: /Folder/ }).click();
    const field = page.getByRole("textbox", { name: "Folder" });
    await field.fill("/Elsewhere");
    await field.press("Enter");
    while ((await folders())[0] !== "/Elsewhere") continue;
    t.same(await folders(), ["/Elsewhere"]);
    t.same(consoleErrors, []);
  });
});
