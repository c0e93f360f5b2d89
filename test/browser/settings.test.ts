/// <reference lib="dom" />
import { resolve } from "node:path";
import t, { type Test } from "tap";
import type { Browser } from "playwright-core";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { checkViews } from "./browser-page.js";
import { serveBuilt } from "./built-page.js";
import { consoleErrorsOf, noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;
const PASSWORD = "correct horse battery";

/** A server without pools, and a user who has just signed in. */
async function startEmpty(t: Test, browser: Browser) {
  const cwd = t.testdir({
    "config.yaml": `audit: { forward: [{ name: archive, url: "file://${resolve(t.testdirName)}/audit.jsonl" }] }`,
  });
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--host", "127.0.0.1", "--port", "0"],
    { cwd, env: { XO_ADMIN_PASSWORD: PASSWORD } },
  );
  const url = await server.find(/Web server listening on (http:\S+)/);
  const context = await browser.newContext({ reducedMotion: "reduce" });
  t.teardown(() => context.close());
  await serveBuilt(context, url);
  const page = await context.newPage();
  const consoleErrors = consoleErrorsOf(page);
  await page.goto(url);
  await page.getByLabel("User name or e-mail").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  return { url, page, consoleErrors };
}

t.test(
  "from an empty server to a pool, and the settings",
  { skip, ...LIMIT },
  async (t) => {
    const [pool] = await simulate(t, "--tls");
    const host = new URL(pool!.url).host;
    const browser = await openBrowser(t);
    const { url, page, consoleErrors } = await startEmpty(t, browser);

    await t.test(
      "the first pool: its certificate is shown before the password is sent",
      async (t) => {
        await page.waitForURL(/first-run/);
        const address = page.getByLabel("Host address");
        await address.fill("127.0.0.1:1");
        await page.getByLabel("Password").fill("wrong");
        await page.getByRole("button", { name: "Connect" }).click();
        await page.getByText("Connection refused.").waitFor();
        await checkViews(t, page, "the form with what is wrong");
        await address.fill(host);
        await page.keyboard.press("Enter");
        await page.getByText("is self-signed").waitFor();
        t.equal(
          (await page.locator(".print code span").allTextContents()).join("")
            .length,
          95,
          "a whole SHA-256 fingerprint",
        );
        await checkViews(t, page, "the certificate");
        await page.getByRole("button", { name: "Accept certificate" }).click();
        await page.getByText("Authentication failed").waitFor();
        await page.getByRole("button", { name: "Edit" }).click();
        await page.getByLabel("Password").fill(pool!.password);
        await page.keyboard.press("Enter");
        await page.getByText("is connected.").waitFor();
        await page.waitForURL(/#\/$/);
      },
    );

    const open = async (section: string, heading: string) => {
      await page.goto(`${url}/#/settings/${section}`);
      await page
        .locator(".settings-part")
        .getByRole("heading", { name: heading, exact: true })
        .waitFor();
    };

    await t.test("a pool is edited, disconnected and forgotten", async (t) => {
      await open("servers", "Servers");
      await page.getByText("accepted:").waitFor();
      await page.getByText("Live", { exact: true }).last().waitFor();
      await checkViews(t, page, "servers");
      const act = async (item: string) => {
        await page.getByRole("button", { name: /^Actions for/ }).click();
        await page.getByRole("menuitem", { name: item }).click();
      };
      await act("Edit");
      await page.getByLabel("Display name").fill("Paris");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Connection settings saved.").waitFor();
      await page.getByText("Paris", { exact: true }).waitFor();
      await act("Disconnect");
      await page.locator(".tag", { hasText: "Disabled" }).waitFor();
      await act("Remove");
      await page.getByRole("heading", { name: "Remove Paris?" }).waitFor();
      await page.getByRole("button", { name: "Remove" }).click();
      await page.getByText("No pools connected").waitFor();
    });

    await t.test(
      "a user is created, joins a group, and is deleted",
      async (t) => {
        const dialogButton = (name: string) =>
          page.getByRole("dialog").getByRole("button", { name, exact: true });
        await open("groups", "Groups");
        await page.getByRole("button", { name: "Add group" }).click();
        await page.getByLabel("Name").fill("operators");
        await dialogButton("Add group").click();
        await page.getByRole("cell", { name: "operators" }).first().waitFor();
        await open("users", "Users");
        await page.getByRole("button", { name: "Add user" }).click();
        await dialogButton("Add user").click();
        await page.getByText("Required.").first().waitFor();
        await page.getByLabel("User name", { exact: true }).fill("ada");
        await page.getByLabel("Password", { exact: true }).fill("a long word");
        await page.getByLabel("operators").check();
        await checkViews(t, page, "the form of a user");
        await dialogButton("Add user").click();
        const row = page.getByRole("row", { name: /^ada/ });
        await row.getByText("operators").waitFor();
        await row.getByRole("button").click();
        await page.getByRole("menuitem", { name: "Delete" }).click();
        const question = page.getByRole("heading", {
          name: "Delete user ada?",
        });
        await question.waitFor();
        await page.getByRole("button", { name: "Delete" }).last().click();
        // While it is open, the rows behind it have no role.
        await question.waitFor({ state: "detached" });
        await row.waitFor({ state: "detached" });
      },
    );

    await t.test("a job is created, shows its times and is run", async (t) => {
      await open("jobs", "Jobs");
      await page.getByRole("button", { name: "Add job" }).click();
      await page.getByRole("radio", { name: /^Operation/ }).check();
      await page.getByRole("textbox", { name: "Name" }).fill("versions");
      await page
        .getByRole("combobox", { name: "Operation" })
        .fill("system.getVersion");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("button", { name: "Add schedule" }).click();
      await page.getByLabel("Cron expression").fill("every day");
      await page.getByText("Invalid cron expression").waitFor();
      await page.getByLabel("Frequency").selectOption("weekly");
      const times = page.getByRole("listitem").filter({ hasText: /^Sun, / });
      await times.first().waitFor();
      t.equal(await times.count(), 5);
      await checkViews(t, page, "the form of a schedule");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("0 4 * * SUN").waitFor();
      await page.getByRole("button", { name: "Run now" }).click();
      await page
        .getByRole("cell", { name: "succeeded", exact: true })
        .waitFor();
    });

    await t.test("all other sections are accessible", async (t) => {
      for (const [section, heading] of [
        ["roles", "Roles and privileges"],
        ["tokens", "Tokens"],
        ["alarms", "Alarm rules"],
        ["performance", "Performance"],
        ["audit", "Audit log"],
        ["configuration", "Export and import"],
        ["account", "My account"],
      ] as const) {
        await open(section, heading);
        await page.locator(".skeleton").first().waitFor({ state: "detached" });
        await checkViews(t, page, section);
      }
      await open("audit", "Audit log");
      const cell = (name: string) => page.getByRole("cell", { name }).first();
      await cell("user.create").waitFor();
      await page.getByLabel("Operation").fill("server.probe");
      await cell("user.create").waitFor({ state: "detached" });
      await cell("server.probe").waitFor();
      await page.getByRole("button", { name: "Verify log" }).click();
      await page.getByText(/records verified/).waitFor();
      const target = page.getByRole("listitem").filter({ hasText: "archive" });
      await target.getByText("up to date").waitFor();
      await target.getByText("All entries forwarded.").waitFor();
    });

    await t.test("simulated pools are opened from the page", async (t) => {
      await page.goto(`${url}/#/first-run`);
      await page.getByRole("button", { name: "Open simulated pools" }).click();
      await page.getByText("C is connected.").waitFor({ timeout: 60_000 });
      await page.waitForURL(/#\/$/);
      await open("servers", "Servers");
      await page.getByRole("cell", { name: "simulated" }).waitFor();
      t.equal(
        await page.getByRole("button", { name: /^Actions for/ }).count(),
        0,
        "what is not kept is not edited",
      );
    });

    await t.test(
      "sections for administrators are not offered to others",
      async (t) => {
        const headers = {
          authorization: `Basic ${btoa(`admin:${PASSWORD}`)}`,
          "content-type": "application/json",
        };
        const body = JSON.stringify({ name: "grace", password: "a long word" });
        await fetch(`${url}/rest/v0/users`, { method: "POST", headers, body });
        const context = await browser.newContext();
        t.teardown(() => context.close());
        await serveBuilt(context, url);
        const other = await context.newPage();
        await other.goto(`${url}/#/users`);
        await other.getByLabel("User name or e-mail").fill("grace");
        await other.getByLabel("Password").fill("a long word");
        await other.keyboard.press("Enter");
        await other.getByText("Section not available").waitFor();
        const parts = other.getByRole("navigation", {
          name: "Settings sections",
        });
        t.same(await parts.getByRole("link").allTextContents(), [
          "My account",
          "Resource sets",
          "Performance",
        ]);
      },
    );

    t.same(
      consoleErrors.filter((text) => !text.includes("Failed to load resource")),
      [],
    );
  },
);
