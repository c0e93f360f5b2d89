/// <reference lib="dom" />
import t from "tap";
import { violations } from "./axe.js";
import { noBrowserReason, openBrowser, webRoot } from "./chromium.js";
import { loadingPools, noPools, faultyPools } from "./scenarios.js";
import { startScriptedServer } from "./scripted-server.js";

/** Text size and layout differ by width, contrast by scheme. */
const views = [
  { colorScheme: "light", width: 1440 },
  { colorScheme: "dark", width: 1440 },
  { colorScheme: "dark", width: 360 },
] as const;

t.test(
  "no violations of WCAG 2.2 AA",
  { skip: noBrowserReason() ?? false, timeout: 120_000 },
  async (t) => {
    const browser = await openBrowser(t);
    for (const { colorScheme, width } of views)
      t.test(`${colorScheme}, ${width} pixels wide`, async (t) => {
        const server = await startScriptedServer(webRoot, loadingPools());
        t.teardown(() => server.stop());
        const page = await browser.newPage({
          colorScheme,
          reducedMotion: "reduce",
          viewport: { width, height: 900 },
        });
        t.teardown(() => page.close());
        await page.goto(`${server.url}#/status`);
        await page.getByText("Pool C").waitFor();
        t.same(await violations(page), [], "while pools load");
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByLabel("Password").waitFor();
        t.same(await violations(page), [], "while signing in");
        await page.keyboard.press("Escape");
        server.show(noPools());
        await page.getByText("No pools connected").waitFor();
        t.same(await violations(page), [], "without pools");
        server.show(faultyPools());
        await page.getByText("Authentication failed").waitFor();
        for (const toggle of await page.locator(".toggle").all())
          await toggle.click();
        t.same(await violations(page), [], "with errors and details");
        server.disconnect();
        await page.getByRole("button", { name: "Retry now" }).waitFor();
        t.same(await violations(page), [], "while the server is stopped");
      });
  },
);
