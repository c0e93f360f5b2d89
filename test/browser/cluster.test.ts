/// <reference lib="dom" />
import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import type { Browser } from "playwright-core";
import { BalancedClient } from "../cluster/balanced-client.js";
import { until } from "../cluster/lease-owners.js";
import { noBalancerReason, startBalancer } from "../cluster/load-balancer.js";
import {
  PASSWORD,
  ServerGroup,
  type GroupMember,
} from "../cluster/server-group.js";
import { checkViews } from "./browser-page.js";
import { serveBuilt } from "./built-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const bin = findPostgres();
const skip =
  noBrowserReason() ??
  (noBalancerReason() || (bin === undefined && "PostgreSQL is not installed"));

/** Three servers behind HAProxy. */
async function startServers(t: Test) {
  const group = await ServerGroup.open(t, {
    bin: bin!,
    pool: ["--churn", "5"],
  });
  const members: GroupMember[] = [];
  for (let i = 0; i < 3; i++) members.push(await group.start(i));
  const ports = members.map(({ url }) => Number(new URL(url).port));
  const url = await startBalancer(t, ports);
  const isReady = async () => (await fetch(`${url}/health`)).status === 200;
  await until(() => isReady().catch(() => false));
  return { members, url };
}

/**
 * A user who has just signed in. `codes`: close codes of the connections of the page; attempts to connect that fail, while a
 * server ends, are none.
 */
async function signIn(t: Test, browser: Browser, url: string) {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  t.teardown(() => context.close());
  await serveBuilt(context, url);
  const page = await context.newPage();
  await page.addInitScript(() => {
    const codes: number[] = [];
    const Original = WebSocket;
    window.WebSocket = class extends Original {
      constructor(address: string | URL, protocols?: string | string[]) {
        super(address, protocols);
        this.addEventListener("open", () => {
          this.addEventListener("close", ({ code }) => codes.push(code));
        });
      }
    };
    Object.assign(window, { codes });
  });
  await page.goto(url);
  await page.getByLabel("User name or e-mail").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "VMs" }).first().waitFor();
  const codes = () =>
    page.evaluate(() => (window as unknown as { codes: number[] }).codes);
  /** Name of the server that the load balancer has chosen for the page. */
  const serverOf = async () => {
    const cookies = await context.cookies();
    return cookies.find(({ name }) => name === "XO-SERVER")!.value;
  };
  return { page, codes, serverOf };
}

t.test(
  "a server leaves by its button, is stopped, and the page continues on another one",
  { skip, ...LIMIT },
  async (t) => {
    const { members, url } = await startServers(t);
    const browser = await openBrowser(t);
    const { page, codes, serverOf } = await signIn(t, browser, url);
    const name = await serverOf();
    const own = members[Number(name.at(-1)) - 1]!;
    const other = members.find((member) => member !== own)!;
    const admin = (await BalancedClient.signIn(other.url)).at(other.url);
    const read = async () => {
      const answer = await admin.fetch("/rest/v0/cluster/servers?fields=*");
      return (await answer.json()) as {
        name: string;
        state: string;
        leases: { subject: string }[];
      }[];
    };
    const ownedBy = async () => {
      const found = (await read()).find((one) => one.name === name)!;
      const subjects = found.leases.map(({ subject }) => subject);
      return subjects.filter((subject) => !subject.startsWith("server/"));
    };
    await until(async () => (await ownedBy()).length > 0);

    await page.goto(`${url}/#/settings/cluster`);
    const row = page.getByRole("row").filter({ hasText: name });
    await row.getByText("running", { exact: true }).waitFor();
    await row.getByRole("button", { name: /^Hand over the leases/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`Hand over the leases of ${name}?`).waitFor();
    await checkViews(t, page, "the question");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    t.ok((await ownedBy()).length > 0, "nothing happens after Cancel");
    await row.getByRole("button", { name: /^Hand over the leases/ }).click();
    await dialog.getByRole("button", { name: "Hand over" }).click();
    await page
      .getByText(
        new RegExp(
          `${name} is handing over: [1-9]\\d* leases handed over, 0 pending`,
        ),
      )
      .waitFor();
    await row.getByText("handing over", { exact: true }).waitFor();
    t.equal(await row.getByRole("button").count(), 0, "it leaves once");
    await checkViews(t, page, "the list of servers");
    t.same(await ownedBy(), []);
    t.equal((await fetch(`${own.url}/health/ready`)).status, 404);

    await page.goto(`${url}/#/vms`);
    await page.getByRole("grid").or(page.getByRole("table")).first().waitFor();
    await page.evaluate(() => (document.body.dataset["same"] = "yes"));
    await admin.connect(t);
    const before = (await codes()).length;
    const stopped = own.program.stop("SIGTERM");
    const [vm] = admin.query!.rows;
    const rename = await admin.query!.call("vm.set", {
      id: vm!["id"],
      name_label: "aaa renamed meanwhile",
    });
    t.equal(rename.error, undefined);
    t.equal(await stopped, 0);
    await page
      .getByPlaceholder(/filter|search/i)
      .first()
      .fill("aaa renamed");
    await page.getByText("aaa renamed meanwhile").first().waitFor();
    t.same((await codes()).slice(before), [1001], "one close, going away");
    t.equal(await page.locator("body").getAttribute("data-same"), "yes");
    t.not(await serverOf(), name, "another server");
  },
);
