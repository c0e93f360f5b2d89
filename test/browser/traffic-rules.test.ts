import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("traffic rules on the page", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, url } = bench;
  const [vif] = await list("vifs", "attached?");
  const id = String(vif!["$network"]);
  const [browser, cookie] = [await openBrowser(t), admin.cookie];
  const open = (path: string) => openPage(t, { browser, url, path, cookie });
  const rulesOf = async (type: string, one: string) =>
    (await list(type, `id:${one}`))[0]?.["trafficRules"];

  t.test("of a network: added, and deleted", LIMIT, async (t) => {
    const { page, consoleErrors } = await open(`/networks/${id}`);
    const card = page.getByRole("region", { name: "Traffic rules" });
    await card.getByText("No traffic rules: all traffic is allowed.").waitFor();
    await card.getByRole("button", { name: "Add traffic rule…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Protocol").selectOption("TCP");
    await checkViews(t, page, "the form of a rule");
    const add = dialog.getByRole("button", { name: "Add rule" });
    await add.click();
    await page
      .getByText(/port is required for TCP/)
      .first()
      .waitFor();
    await card.getByRole("button", { name: "Add traffic rule…" }).click();
    await dialog.getByLabel("Protocol").selectOption("TCP");
    await dialog.getByLabel("Port").fill("22");
    await dialog.getByLabel("Addresses").fill("192.0.2.0/24");
    await add.click();
    await card.getByRole("row", { name: /Drop TCP 22 192/ }).waitFor();
    t.same(await rulesOf("networks", id), [
      {
        allow: false,
        protocol: "TCP",
        port: 22,
        ipRange: "192.0.2.0/24",
        direction: "from/to",
      },
    ]);
    await checkViews(t, page, "a network with a rule");
    await card.getByRole("button", { name: /Drop TCP/ }).click();
    await page.getByRole("menuitem", { name: "Delete traffic rule…" }).click();
    await dialog.getByRole("button", { name: /Delete/ }).click();
    await card.getByText("No traffic rules: all traffic is allowed.").waitFor();
    t.equal(await rulesOf("networks", id), undefined);
    t.same(consoleErrors, []);
  });

  t.test("of an interface of a VM", LIMIT, async (t) => {
    const { page } = await open(`/vms/${String(vif!["$VM"])}/network`);
    const row = page.getByRole("row", {
      name: new RegExp(String(vif!["MAC"])),
    });
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: "Add traffic rule…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Action").selectOption("allow");
    await dialog.getByRole("button", { name: "Add rule" }).click();
    const card = page.getByRole("region", { name: "Traffic rules" });
    await card.getByRole("row", { name: /Allow IP all 0\.0\.0\.0/ }).waitFor();
    t.match(await rulesOf("vifs", vif!.id), [{ allow: true, protocol: "IP" }]);
    await checkViews(t, page, "an interface with a rule");
  });
});
