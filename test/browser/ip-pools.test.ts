import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test(
  "IP pools are edited and added to sets",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, list, url } = await startStorageBench(t);
    const [network] = await list("networks");
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: "/settings/ip-pools",
      cookie: admin.cookie,
    });
    await page.getByRole("button", { name: "Add IP pool" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("web");
    await dialog.getByLabel("Addresses").fill("10.0.0.9 - 10.0.0.1");
    await dialog.getByLabel(String(network!["name_label"])).first().check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/is not an IP address/).waitFor();
    await dialog
      .getByLabel("Addresses")
      .fill("10.0.0.1 - 10.0.0.9\n10.0.1.0/24");
    await checkViews(t, page, "the form of an IP pool");
    await dialog.getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row", { name: /web/ });
    await row.getByText("0 of 263").first().waitFor();
    await row
      .getByRole("link", { name: String(network!["name_label"]) })
      .waitFor();
    await checkViews(t, page, "IP pools");

    await page.goto(`${url}/#/settings/resource-sets`);
    await page
      .getByRole("button", { name: "Add resource set" })
      .first()
      .click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Team");
    await dialog.getByRole("checkbox", { name: "web", exact: true }).check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("region", { name: "Team" }).waitFor();
    const sets =
      await admin.request<{ ipPools: string[] }[]>("resourceSet.getAll");
    t.equal(sets[0]?.ipPools.length, 1);
    t.same(consoleErrors, []);
  },
);
