import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("self-service with a resource set", { skip, ...LIMIT }, async (t) => {
  const { admin, addUser, list, url } = await startStorageBench(t);
  const ada = await addUser("ada", {});
  const [sr] = await list("srs", "shared? content_type:user");
  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: "/settings/resource-sets",
    cookie: admin.cookie,
  });
  await page.getByRole("button", { name: "Add resource set" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Team A");
  await dialog.getByLabel("VMs", { exact: true }).fill("1");
  await dialog.getByLabel("Memory (GiB)").fill("8,5");
  await dialog.getByLabel("vCPUs").fill("many");
  await dialog.getByText("Enter a number, or leave empty.").waitFor();
  await dialog.getByLabel("vCPUs").fill("4");
  await dialog.getByLabel("ada").check();
  await dialog.getByLabel("Other install media").first().check();
  await dialog.getByLabel(String(sr!["name_label"])).first().check();
  await checkViews(t, page, "the form of a resource set");
  await dialog.getByRole("button", { name: "Save" }).click();
  const card = page.getByRole("region", { name: "Team A" });
  await card.getByText("0 B of 8.5 GiB").waitFor();
  await card.getByText(/Users and groups: ada/).waitFor();
  await checkViews(t, page, "resource sets");

  const visitor = await openPage(t, {
    browser,
    url,
    path: "/settings/resource-sets",
    cookie: ada.cookie,
  });
  const own = visitor.page.getByRole("region", { name: "Team A" });
  await own.getByText("0 of 1").waitFor();
  t.equal(await own.getByRole("button", { name: /^Actions/ }).count(), 0);
  await own.getByRole("link", { name: "New VM" }).click();
  await visitor.page.getByText("Other install media").first().click();
  await visitor.page.getByRole("textbox", { name: "Name" }).fill("mine");
  await visitor.page.getByRole("button", { name: /^Create/ }).click();
  await visitor.page.getByText(/mine/).first().waitFor();
  await visitor.page.goto(`${url}/#/vms`);
  await visitor.page.getByRole("link", { name: "mine" }).waitFor();
  t.equal((await ada.rest("GET", "/vms")).status, 200);
  t.equal(
    ((await ada.rest("GET", "/vms")).body as unknown[]).length,
    1,
    "ada sees her VM and no other",
  );
  await visitor.page.goto(`${url}/#/settings/resource-sets`);
  await own.getByText("1 of 1").waitFor();
  t.same(consoleErrors, []);
});
