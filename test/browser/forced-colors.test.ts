/// <reference lib="dom" />
import t from "tap";
import { openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser, webRoot } from "./chromium.js";
import { livePools } from "./scenarios.js";
import { startScriptedServer } from "./scripted-server.js";

// The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");
const skip = noBrowserReason() ?? false;

t.test(
  "with the high contrast colors of the system, what is selected is outlined",
  { skip, timeout: 120_000 },
  async (t) => {
    const server = await startScriptedServer(webRoot, livePools());
    t.teardown(() => server.stop());
    const { page } = await openPage(t, {
      browser: await openBrowser(t),
      url: server.url.slice(0, -1),
      path: "/vms",
      cookie: "authenticationToken=t",
      prepare: (page) => page.emulateMedia({ forcedColors: "active" }),
    });
    const outlineOf = (name: string, role: "link" | "button") =>
      page
        .getByRole(role, { name, exact: true })
        .evaluate((element) => getComputedStyle(element).outlineStyle);
    await page.getByRole("link", { name: "Hosts", exact: true }).waitFor();
    t.equal(await outlineOf("VMs", "link"), "solid");
    t.equal(await outlineOf("Hosts", "link"), "none");
    t.equal(await outlineOf("Lists", "button"), "solid");
    t.equal(await outlineOf("Tree", "button"), "none");
  },
);
