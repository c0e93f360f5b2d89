import t from "tap";
import { ConsoleLink, type LinkState } from "../src/consoles/console-link.js";
import type { Answer, ConsoleSummary } from "../src/consoles/summary.js";
import { FakeClock } from "./fake-clock.js";

const summary: ConsoleSummary = {
  id: "vm",
  type: "VM",
  name_label: "a VM",
  kinds: ["rfb"],
};
const READY: Answer = { kind: "ready", summary };
const GONE: Answer = { kind: "gone" };

const refused = (code: string): Answer => ({
  kind: "refused",
  refusal: { code, message: code, data: {} },
});

/** A link whose questions are answered as scripted, the last answer again and again. */
function linkTo(...answers: Answer[]) {
  const clock = new FakeClock();
  const states: LinkState[] = [];
  let asked = 0;
  const link = new ConsoleLink({
    clock,
    check: async () => answers[Math.min(asked++, answers.length - 1)]!,
    onState: (state) => states.push(state),
  });
  return {
    link,
    clock,
    get asked() {
      return asked;
    },
    get state() {
      return states.at(-1)!;
    },
    get names() {
      return states.map(({ name }) => name);
    },
    start: async () => {
      link.start();
      await settled();
    },
    pass: async (ms: number) => {
      clock.pass(ms);
      await settled();
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

t.test(
  "a console link requests a console, opens it, and reconnects when it ends",
  async (t) => {
    const page = linkTo(READY);
    await page.start();
    t.same(page.state, { name: "opening", summary });
    page.link.opened();
    t.equal(page.state.name, "open");
    page.link.ended();
    t.match(page.state, { name: "waiting", why: "ended" });
    await page.pass(999);
    t.equal(page.asked, 1);
    await page.pass(1);
    t.equal(page.asked, 2);
    t.equal(page.state.name, "opening");
  },
);

t.test(
  "delays grow while retries fail, and are short again afterwards",
  async (t) => {
    const page = linkTo(READY);
    await page.start();
    for (const pause of [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) {
      page.link.ended();
      t.match(page.state, { why: "notOpened" });
      const { retryAt } = page.state as { retryAt: number };
      t.equal(retryAt - page.clock.now(), pause);
      await page.pass(pause);
    }
    page.link.opened();
    page.clock.pass(4_000);
    page.link.ended();
    await page.pass(14_000);
    t.match(page.state, { name: "waiting" }, "it was not open for long");
    await page.pass(1_000);
    page.link.opened();
    page.clock.pass(5_000);
    page.link.ended();
    await page.pass(1_000);
    t.equal(page.state.name, "opening");
  },
);

t.test("temporary problems are retried, others are not", async (t) => {
  const halted = linkTo(refused("VM_BAD_POWER_STATE"), READY);
  await halted.start();
  t.match(halted.state, { name: "refused" });
  await halted.pass(3_000);
  t.equal(halted.state.name, "opening");

  const denied = linkTo(refused("FORBIDDEN"), READY);
  await denied.start();
  await denied.pass(3_600_000);
  t.equal(denied.asked, 1);
  denied.link.retryNow();
  await settled();
  t.equal(denied.state.name, "opening");
});

t.test(
  "a disconnected server is retried, and its last data stays",
  async (t) => {
    const page = linkTo(GONE, GONE, READY);
    await page.start();
    t.match(page.state, { name: "waiting", why: "gone" });
    page.clock.pass(1_000);
    t.same(page.state, { name: "waiting", why: "gone", retryAt: undefined });
    await settled();
    await page.pass(2_000);
    t.equal(page.state.name, "opening");
    t.notOk(page.names.slice(1).includes("checking"), "nothing flickers");
  },
);

t.test(
  "a stopped connection sends no requests and ignores late responses",
  async (t) => {
    const page = linkTo(READY);
    page.link.start();
    page.link.stop();
    await settled();
    t.same(page.names, ["checking"]);
    const waiting = linkTo(GONE);
    await waiting.start();
    waiting.link.stop();
    await waiting.pass(60_000);
    t.equal(waiting.asked, 1);
  },
);
