import { createHmac } from "node:crypto";
import t, { type Test } from "tap";
import type { Page } from "playwright-core";
import { RunningProgram } from "../running-program.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;
const PASSWORD = "correct horse battery";

async function start(t: Test, auth: object): Promise<string> {
  const cwd = t.testdir({ "config.yaml": JSON.stringify({ auth }) });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  return server.find(/Web server listening on (http:\S+)/);
}

async function fillIn(page: Page, otp?: string): Promise<void> {
  await page.getByLabel("User name or e-mail").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  if (otp === undefined) return;
  await page.getByLabel("Two-factor code").fill(otp);
  await page.keyboard.press("Enter");
}

async function cookieOf(page: Page) {
  const cookies = await page.context().cookies();
  return cookies.find(({ name }) => name === "authenticationToken");
}

/** The code of an authenticator app (RFC 6238). @param later steps of 30 s */
function codeOf(secret: string, later = 0): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret.replaceAll(/\s/g, "")]
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
  const mac = createHmac("sha1", Buffer.from(bytes)).update(step).digest();
  const number = mac.readUInt32BE(mac[19]! & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

t.test(
  "an administrator sets up the required second factor, and continues",
  { skip, ...LIMIT },
  async (t) => {
    const url = await start(t, { requireSecondFactor: "administrators" });
    const { page, consoleErrors } = await openPage(t, {
      browser: await openBrowser(t),
      url,
      path: "/settings/users",
      cookie: "",
    });
    await fillIn(page);
    await page
      .getByRole("heading", { name: "Set up a second factor" })
      .waitFor();
    await checkViews(t, page, "a second factor is required");
    await page.getByLabel("Current password").fill(PASSWORD);
    await page.getByRole("button", { name: "Set up" }).click();
    const secret = await page.locator("code").innerText();
    const otp = page.getByLabel("Code from the app");
    await otp.fill("000000");
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByText("Wrong code").waitFor();
    await otp.fill(codeOf(secret));
    await checkViews(t, page, "the code of a second factor");
    await page.getByRole("button", { name: "Enable" }).click();

    const row = page.getByRole("row", { name: /^admin/ });
    await row.getByText("Two-factor", { exact: true }).waitFor();
    // Another administrator, without a second factor.
    await page.getByRole("button", { name: "Add user" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("User name").fill("bob");
    await dialog.getByLabel("Password").fill("another battery");
    await dialog.getByLabel("Administrator").check();
    await dialog.getByRole("button", { name: "Add user" }).click();
    const bob = page.getByRole("row", { name: /^bob/ });
    await bob.getByText("Two-factor missing").waitFor();
    await page.getByText("1 user must still set up").waitFor();
    await checkViews(t, page, "users without a second factor");
    t.same(consoleErrors, []);

    await page.getByRole("button", { name: "admin: account" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await fillIn(page, codeOf(secret, 1));
    await bob.waitFor();
    await page.getByRole("button", { name: "admin: account" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await fillIn(page, "000000");
    await page.getByText("Wrong code, user name or password.").waitFor();
  },
);

t.test(
  "a page reports the end of its session, and continues on the same page after sign-in",
  { skip, ...LIMIT },
  async (t) => {
    const url = await start(t, { sessionHours: 12 });
    const { page } = await openPage(t, {
      browser: await openBrowser(t),
      url,
      path: "/settings/users",
      cookie: "",
    });
    await fillIn(page);
    const row = page.getByRole("row", { name: /^admin/ });
    await row.waitFor();
    const first = await cookieOf(page);
    t.equal(first?.expires, -1, "until the browser is closed");

    await fetch(`${url}/rest/v0/auth/logout`, {
      method: "POST",
      headers: { cookie: `authenticationToken=${first!.value}` },
    });
    await page.getByText("Your session has ended.").waitFor();
    await checkViews(t, page, "a session has ended");
    await page.getByLabel("Stay signed in").check();
    await fillIn(page);
    await row.waitFor();
    t.match(page.url(), /#\/settings\/users$/);
    const expires = (await cookieOf(page))?.expires ?? -1;
    const days = (expires - Date.now() / 1000) / 86_400;
    t.equal(Math.round(days), 30, "after the browser was closed, too");
  },
);
