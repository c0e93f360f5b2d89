/// <reference lib="dom" />
import t from "tap";
import type { Page } from "playwright-core";
import { violations } from "./axe.js";
import {
  consoleErrorsOf,
  openBrowser,
  noBrowserReason,
  webRoot,
} from "./chromium.js";
import { livePools } from "./scenarios.js";
import { startScriptedServer } from "./scripted-server.js";

const skip = noBrowserReason() ?? false;
/** Folder for screenshots; undefined: none are written. */
const screenshots = process.env["SCREENSHOTS"];

const alarm = (n: number, more: object = {}) => ({
  id: `alarm-${n}`,
  ruleId: "r",
  ruleName: "CPU over 90 %",
  type: "VM",
  name: `web-${n}`,
  severity: "warning",
  value: 0.953,
  raisedAt: Date.now() - n * 60_000,
  ...more,
});

t.test("alarms on the page", { skip, timeout: 120_000 }, async (t) => {
  const browser = await openBrowser(t);

  for (const [colorScheme, width] of [
    ["light", 1440],
    ["dark", 1440],
    ["light", 390],
    ["dark", 390],
  ] as const)
    t.test(`${colorScheme}, ${width} pixels wide`, async (t) => {
      let open: object[] = [];
      const acknowledged: unknown[] = [];
      const server = await startScriptedServer(webRoot, livePools(), {
        "alarm.subscribe": () => true,
        "alarm.getAll": () => open,
        "alarm.acknowledge": ({ id }) => {
          acknowledged.push(id);
          open = open.map((one) =>
            (one as { id: string }).id === id
              ? { ...one, acknowledgedAt: Date.now() }
              : one,
          );
          return true;
        },
      });
      t.teardown(() => server.stop());
      const page = await browser.newPage({
        colorScheme,
        reducedMotion: "reduce",
        viewport: { width, height: 900 },
      });
      t.teardown(() => page.close());
      const consoleErrors = consoleErrorsOf(page);
      await page.goto(`${server.url}#/status`);
      await page.getByText("No alarms.").waitFor();
      t.same(await violations(page), [], "without alarms");

      open = [
        alarm(1, { severity: "info", name: "x".repeat(300) }),
        alarm(2, { severity: "critical", text: "HOST_LOST: <b>srv-2</b>" }),
        ...Array.from({ length: 8 }, (_, i) => alarm(i + 3)),
      ];
      server.notify("alarms");
      await page.getByText("web-2", { exact: true }).waitFor();
      t.equal(await page.locator(".alarm").count(), 5);
      t.match(await page.locator(".alarm").first().textContent(), /Critical/);
      t.equal(
        await page.getByRole("button", { name: /^Acknowledge/ }).count(),
        0,
        "no user has signed in",
      );
      await page.getByRole("button", { name: "Show all 10" }).click();
      t.equal(await page.locator(".alarm").count(), 10);
      t.same(await violations(page), [], "with alarms");
      t.ok(await isNoWiderThan(page, width));

      await signIn(page);
      await page.getByRole("button", { name: "of web-2" }).click();
      await page.getByText("Acknowledged").waitFor();
      t.same(acknowledged, ["alarm-2"]);
      if (screenshots !== undefined)
        await page.screenshot({
          path: `${screenshots}/alarms-${colorScheme}-${width}.png`,
        });
      t.same(await violations(page), [], "one acknowledged");
      // The second factor is requested by a 401.
      t.same(
        consoleErrors.filter((one) => !one.includes("401")),
        [],
      );
    });

  t.test("without the right there is no list", async (t) => {
    const server = await startScriptedServer(webRoot, livePools());
    t.teardown(() => server.stop());
    const page = await browser.newPage();
    t.teardown(() => page.close());
    await page.goto(`${server.url}#/status`);
    await page.getByText("63,973").first().waitFor();
    t.equal(await page.getByText("Alarms").count(), 0);
  });
});

async function signIn(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("User name or e-mail").fill("ada");
  await page.getByLabel("Password").fill("right");
  const submit = page
    .getByRole("dialog")
    .getByRole("button", { name: "Sign in", exact: true });
  await submit.click();
  await page.getByLabel("Two-factor code").fill("123456");
  await submit.click();
  await page.getByRole("button", { name: "ada: account" }).waitFor();
}

function isNoWiderThan(page: Page, width: number): Promise<boolean> {
  return page.evaluate(
    (most) => document.documentElement.scrollWidth <= most,
    width,
  );
}
