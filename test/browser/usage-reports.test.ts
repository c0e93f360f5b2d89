import t from "tap";
import { startMailingServer } from "../mailing-server.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test(
  "a usage report is set up, previewed and sent",
  { skip, ...LIMIT },
  async (t) => {
    const { api, url, letters } = await startMailingServer(t);
    const token = String(await api.request("token.create", {}));
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: "/settings/usage-reports",
      cookie: `authenticationToken=${token}`,
    });
    const main = page.getByRole("main");
    const dialog = page.getByRole("dialog");
    const button = (name: string) => dialog.getByRole("button", { name });
    await main.getByText("No usage reports").waitFor();
    await main.getByRole("button", { name: "Add usage report" }).click();
    await dialog.getByLabel("Name", { exact: true }).fill("weekly");
    await button("Save").click();
    await dialog.getByText("Required.").waitFor();
    await dialog.getByLabel("E-mail addresses").fill("nobody");
    await dialog.getByText("Not valid e-mail addresses.").waitFor();
    await dialog.getByLabel("E-mail addresses").fill("ops@example.org");
    await dialog.getByLabel("All pools").uncheck();
    await dialog.getByText("At least one pool must be selected.").waitFor();
    await checkViews(t, page, "form of a usage report");
    await dialog.getByLabel("All pools").check();
    await dialog.getByLabel("Frequency").selectOption("weekly");
    await button("Save").click();
    const job = main.getByRole("region", { name: "weekly" });
    await job.getByText("ops@example.org").waitFor();
    await job.getByText("never run").waitFor();
    await checkViews(t, page, "usage reports");

    await job.getByRole("button", { name: /Actions/ }).click();
    await page.getByRole("menuitem", { name: "Preview" }).click();
    await dialog.getByText(/^weekly: \d{4}-/).waitFor();
    await dialog.getByText("VMs by CPU usage").waitFor();
    await dialog.getByRole("row", { name: /^Hosts 2/ }).waitFor();
    await checkViews(t, page, "preview of a usage report");
    t.equal(letters.length, 0, "a preview sends nothing");
    await button("Close").click();

    await job.getByRole("button", { name: "Run now" }).click();
    await job.getByText("succeeded", { exact: true }).waitFor();
    t.equal(letters.length, 1);

    await job.getByRole("button", { name: /Actions/ }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await dialog.getByLabel("Period").selectOption("month");
    await button("Save").click();
    await job.getByText("last 30 days").waitFor();
    await job.getByRole("button", { name: /Actions/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await button("Delete").click();
    await main.getByText("No usage reports").waitFor();
    t.same(consoleErrors, []);
  },
);
