/// <reference lib="dom" />
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { fitsWindow, narrow, openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");

t.test(
  "consoles in a browser",
  { skip: noBrowserReason() ?? false, ...LIMIT },
  async (t) => {
    const bench = await startStorageBench(t);
    const { admin, list, url } = bench;
    const running = await list("vms", "power_state:Running");
    const [halted] = await list("vms", "power_state:Halted");
    const browser = await openBrowser(t);
    const open = async (
      t: Test,
      id: string,
      { cookie = admin.cookie, view = wide } = {},
    ) => {
      const keys = new SentKeys();
      const prepare = (page: Page) => keys.record(page);
      const path = `/consoles/${id}`;
      const opened = await openPage(t, {
        browser,
        url,
        path,
        cookie,
        view,
        prepare,
      });
      const sent = (...requested: readonly number[]) => keys.until(requested);
      return { ...opened, sent };
    };

    t.test("a key changes the picture, Ctrl+Alt+Del arrives", async (t) => {
      const { page, sent, consoleErrors } = await open(t, running[0]!.id);
      await page.getByText("Connected", { exact: true }).waitFor();
      const canvas = page.getByRole("application");
      await canvas.focus();
      await page.waitForFunction(isPainted);
      const before = await page.evaluate(rowOfKeys);
      await page.keyboard.press("x");
      while ((await page.evaluate(rowOfKeys)) === before) continue;
      t.pass("the row of keys shows it");
      await page.getByRole("button", { name: "Ctrl+Alt+Del" }).click();
      await sent(0xffe3, 0xffe9, 0xffff);
      t.pass("all three keys were sent");

      await page.getByRole("button", { name: "Send text" }).click();
      const words = page.getByRole("textbox");
      await words.fill("A!\n");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await sent(0xffe1, 0x41, 0xffe1, 0x21, 0xff0d);
      t.pass("a text was typed, with Shift where it must be");
      await words.waitFor({ state: "detached" });

      await page.getByRole("button", { name: "Full screen" }).click();
      await page.waitForFunction(() => document.fullscreenElement !== null);
      await page.waitForFunction(isFocused);
      await page.keyboard.press("f");
      await sent("f".charCodeAt(0));
      t.pass("keys arrive while the screen is full");
      await page.evaluate(() => document.exitFullscreen());

      await canvas.focus();
      await page.keyboard.press("Shift+Escape");
      const home = page.getByRole("link", { name: "Overview" });
      t.ok(await home.evaluate((link) => link === document.activeElement));
      t.same(consoleErrors, []);
    });

    t.test("view-only mode sends nothing", async (t) => {
      const { page, sent } = await open(t, running[0]!.id);
      await page.getByText("Connected", { exact: true }).waitFor();
      await page.getByRole("button", { name: "View only" }).click();
      await page.getByRole("application").focus();
      await page.keyboard.press("q");
      const reset = page.getByRole("button", { name: "Ctrl+Alt+Del" });
      t.ok(await reset.isDisabled());
      await page.getByRole("button", { name: "View only" }).click();
      await page.getByRole("application").focus();
      await page.keyboard.press("w");
      const keys = await sent("w".charCodeAt(0));
      t.notOk(keys.includes("q".charCodeAt(0)));
    });

    t.test("the terminal echoes input", async (t) => {
      const { page, consoleErrors } = await open(t, running[1]!.id);
      await page.getByText("Connected", { exact: true }).waitFor();
      await page.getByLabel("Console type").selectOption("vt100");
      const rows = page.locator(".xterm-rows");
      await rows.getByText("login:").first().waitFor();
      await page.locator(".xterm-helper-textarea").focus();
      await page.keyboard.type("hello");
      await rows.getByText("login: hello").waitFor();
      const height = await rows.evaluate((all) => all.clientHeight);
      t.ok(height > 150, "its style sheet is in force");
      const lineHeight = () =>
        rows.evaluate((all) => all.firstElementChild!.clientHeight);
      const fitting = await lineHeight();
      await page.getByRole("button", { name: "Fit to window" }).click();
      while ((await lineHeight()) === fitting) continue;
      t.ok((await lineHeight()) < 22, "as large as one reads");
      t.same(consoleErrors, []);
    });

    t.test(
      "it shows why there is no console, and opens when there is one",
      async (t) => {
        const { page } = await open(t, halted!.id);
        await page.locator(".what", { hasText: "The VM is halted" }).waitFor();
        await admin.request("vm.start", { id: halted!.id });
        await page.getByText("Connected", { exact: true }).waitFor();
        await admin.request("vm.stop", { id: halted!.id, force: true });
        await page.locator(".what", { hasText: "The VM is halted" }).waitFor();
        t.pass("and reports it again");
      },
    );

    t.test(
      "a user without the right is refused; an anonymous one can sign in",
      async (t) => {
        const { id } = running[2]!;
        const viewer = await bench.addUser("viewer", { [id]: "viewer" });
        const denied = await open(t, id, { cookie: viewer.cookie });
        await denied.page
          .locator(".what", { hasText: "no permission to use" })
          .waitFor();
        const { page } = await open(t, id, { cookie: "" });
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByLabel("Name").fill("admin");
        await page.getByLabel("Password").fill("correct horse battery");
        await page.keyboard.press("Enter");
        await page.getByText("Connected", { exact: true }).waitFor();
        t.pass("signed in on the spot");
      },
    );

    for (const view of [wide, narrow])
      t.test(`no accessibility violations: ${view.colorScheme}`, async (t) => {
        const { page } = await open(t, running[3]!.id, { view });
        await page.getByText("Connected", { exact: true }).waitFor();
        t.same(await violations(page), [], "the screen");
        await page.getByRole("button", { name: "Send text" }).click();
        t.same(await violations(page), [], "while a text is written");
        await page.keyboard.press("Escape");
        await page.getByLabel("Console type").selectOption("vt100");
        await page.locator(".xterm-rows").getByText("login:").first().waitFor();
        t.same(await violations(page), [], "the terminal");
        const none = await open(t, "none", { view });
        await none.page.locator(".what", { hasText: "not exist" }).waitFor();
        t.same(await violations(none.page), [], "no console");
        t.ok(await fitsWindow(page), "nothing is wider than the window");
      });
  },
);

/** The keys that a page has sent to a console, in their order. */
class SentKeys {
  readonly #keys: number[] = [];
  #wake: () => void = () => undefined;

  record(page: Page): void {
    page.on("websocket", (socket) => {
      socket.on("framesent", ({ payload }) => {
        const bytes = Buffer.from(payload);
        // noVNC sends each key in one frame: type 4, down, two bytes of padding, the key.
        if (bytes.length !== 8 || bytes[0] !== 4 || bytes[1] !== 1) return;
        this.#keys.push(bytes.readUInt32BE(4));
        this.#wake();
      });
    });
  }

  /** Resolves with all keys once these have been sent, in this order. */
  async until(requested: readonly number[]): Promise<readonly number[]> {
    for (;;) {
      let matched = 0;
      for (const key of this.#keys) if (key === requested[matched]) matched++;
      if (matched >= requested.length) return this.#keys;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** The lowest row of the guest's picture, where the simulator shows the keys. */
function rowOfKeys(): string {
  const canvas = document.querySelector("canvas")!;
  const { width, height } = canvas;
  const pixels = canvas.getContext("2d")!;
  return pixels.getImageData(0, height - 8, width, 1).data.join(",");
}

function isPainted(): boolean {
  const canvas = document.querySelector("canvas");
  if (canvas === null || canvas.width < 100) return false;
  const { data } = canvas.getContext("2d")!.getImageData(0, 0, 64, 64);
  return data.some((value, index) => index % 4 !== 3 && value !== data[0]);
}

function isFocused(): boolean {
  return document.activeElement instanceof HTMLCanvasElement;
}
