import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("cloud configs are kept in a library", { skip, ...LIMIT }, async (t) => {
  const { admin, url } = await startStorageBench(t);
  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: "/settings/cloud-configs",
    cookie: admin.cookie,
  });
  await page.getByRole("button", { name: "Add cloud config" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("keys");
  await dialog.getByLabel("Template").fill("users: []");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("must begin with #cloud-config").waitFor();
  await dialog.getByLabel("Template").fill("#cloud-config\nusers: []\n");
  await checkViews(t, page, "the form of a cloud config");
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = (name: string) =>
    page.getByRole("row", { name: new RegExp(`^${name}`) });
  await row("keys").getByText("User data").waitFor();
  await checkViews(t, page, "cloud configs");

  const act = async (name: string, item: string) => {
    await page.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await act("keys", "Copy");
  await dialog.getByRole("textbox", { name: "Name" }).fill("other");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row("other").waitFor();
  await act("keys", "Delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  // While it is open, the rows behind it have no role.
  await dialog.waitFor({ state: "detached" });
  await row("keys").waitFor({ state: "detached" });
  const left = await admin.request<{ name: string }[]>("cloudConfig.getAll");
  t.same(
    left.map(({ name }) => name),
    ["other"],
  );
  t.same(consoleErrors, []);
});
