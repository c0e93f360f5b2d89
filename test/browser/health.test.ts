import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("the health page", { skip, ...LIMIT }, async (t) => {
  const { admin, list, url } = await startStorageBench(t);
  const [sr] = await list("srs", "shared? content_type:user");
  await admin.ask("disk.create", {
    name: "left over",
    sr: sr!.id,
    size: 2 ** 30,
  });
  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: "/health-report",
    cookie: admin.cookie,
  });
  const main = page.getByRole("main");
  const card = main.getByRole("region", { name: /Disks without VM/ });
  await card.getByRole("cell", { name: "left over" }).waitFor();
  t.match(await card.textContent(), "No VM, template or snapshot uses");
  await main.getByRole("heading", { name: /checks? passed/ }).waitFor();
  await checkViews(t, page, "health");

  await main.getByRole("button", { name: "Check again" }).click();
  await card.getByRole("cell", { name: "left over" }).waitFor();
  await card.getByRole("link", { name: "Show in list" }).click();
  await page.waitForURL(/\/vdis\?q=/);
  await main.getByText("left over").waitFor();
  t.same(consoleErrors, []);
});
