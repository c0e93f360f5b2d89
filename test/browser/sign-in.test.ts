/// <reference lib="dom" />
import t, { type Test } from "tap";
import type { Browser, Page } from "playwright-core";
import {
  consoleErrorsOf,
  openBrowser,
  noBrowserReason,
  webRoot,
} from "./chromium.js";
import { livePools } from "./scenarios.js";
import { startScriptedServer } from "./scripted-server.js";

const skip = noBrowserReason() ?? false;

t.test("signing in on the page", { skip, timeout: 120_000 }, async (t) => {
  const browser = await openBrowser(t);

  t.test("name, password and code; it lasts over a reload", async (t) => {
    const { page } = await visit(t, browser);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("User name or e-mail").fill("ada");
    await page.getByLabel("Password").fill("right");
    await page.keyboard.press("Enter");
    const code = page.getByLabel("Two-factor code");
    await code.waitFor();
    t.ok(await code.evaluate((field) => field === document.activeElement));
    await page.keyboard.type("123 456");
    await page.keyboard.press("Enter");
    await account(page).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    t.equal(
      await page.evaluate("document.cookie"),
      "",
      "out of scripts' reach",
    );
    await page.reload();
    await account(page).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
  });

  t.test("an error is shown, and the form stays", async (t) => {
    const { page, server } = await visit(t, browser);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("User name or e-mail").fill("ada");
    await page.getByLabel("Password").fill("wrong");
    await page.keyboard.press("Enter");
    const alert = page.getByRole("alert");
    await alert.getByText("Wrong user name or password.").waitFor();
    await page.getByLabel("Password").fill("right");
    await page.keyboard.press("Enter");
    await page.getByLabel("Two-factor code").fill("000000");
    await page.keyboard.press("Enter");
    await alert.getByText("try again in 2 s").waitFor();
    await server.stop();
    await page.keyboard.press("Enter");
    await alert.getByText("Sign-in failed").waitFor();
    t.equal(await page.getByLabel("User name or e-mail").inputValue(), "ada");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  t.test("another provider is a link", async (t) => {
    const { page } = await visit(t, browser);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "Sign in with Acme" }).click();
    await page.waitForURL(/at-acme/);
  });

  t.test("an anonymous page reports no error", async (t) => {
    const { page, consoleErrors } = await visit(t, browser);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    t.same(consoleErrors, []);
  });
});

function account(page: Page) {
  return page.getByRole("button", { name: "ada: account" });
}

async function visit(
  t: Test,
  browser: Browser,
): Promise<{
  page: Page;
  server: Awaited<ReturnType<typeof startScriptedServer>>;
  consoleErrors: string[];
}> {
  const server = await startScriptedServer(webRoot, livePools());
  t.teardown(() => server.stop());
  const context = await browser.newContext({ locale: "en-US" });
  t.teardown(() => context.close());
  const page = await context.newPage();
  const consoleErrors = consoleErrorsOf(page);
  await page.goto(`${server.url}#/status`);
  return { page, server, consoleErrors };
}
