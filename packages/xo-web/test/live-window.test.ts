import t from "tap";
import {
  ConnectionLostError,
  NoAnswerError,
  RpcError,
} from "../src/api/rpc-error.js";
import type { Json } from "@xo-server/kit";
import {
  LiveWindow,
  type WindowRequest,
  type WindowView,
} from "../src/live/live-window.js";
import { settled } from "./fake-server.js";

interface Call {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  answer(result?: Json): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A window, the calls that it made, and what it shows. */
function started() {
  const calls: Call[] = [];
  const views: WindowView[] = [];
  const window = new LiveWindow({
    name: "mine",
    onView: (view) => views.push(view),
    call: (method, params) =>
      new Promise((resolve, reject) => {
        calls.push({
          method,
          params: params as Call["params"],
          answer: (result = true) => (resolve(result), settled()),
          fail: (error) => (reject(error), settled()),
        });
      }),
  });
  const notify = (update: object) => {
    window.notified({ name: "mine", ...update });
  };
  const ids = () => views.at(-1)!.rows.map((row) => (row as { id: string }).id);
  return { window, calls, views, notify, ids, view: () => views.at(-1)! };
}

const vms: WindowRequest = { type: "VM", filter: "a", offset: 0, limit: 2 };
const row = (id: string, more: object = {}): Json => ({ id, n: 1, ...more });
const first: Json = {
  revision: 1,
  total: 5,
  offset: 0,
  splice: { at: 0, remove: 0, insert: ["a", "b"] },
  objects: { a: row("a"), b: row("b") },
  patches: {},
};

/** Connected, with two rows of five. */
async function live() {
  const all = started();
  all.window.connected();
  all.window.request(vms);
  await all.calls[0]!.answer(first);
  return all;
}

t.test("it opens when there is a connection and a request", async (t) => {
  const { window, calls, view, ids } = started();
  window.request(vms);
  t.equal(calls.length, 0);
  window.connected();
  t.equal(calls[0]!.method, "query.open");
  t.match(calls[0]!.params, { name: "mine", ...vms });
  t.equal(view().state, "loading");
  await calls[0]!.answer(first);
  t.same(ids(), ["a", "b"]);
  t.match(view(), { state: "live", total: 5, offset: 0 });
});

t.test("differences are applied, and other rows stay the same", async (t) => {
  const { notify, view, ids } = await live();
  const [, before] = view().rows;
  notify({
    total: 6,
    offset: 0,
    objects: { c: row("c") },
    splice: { at: 0, remove: 0, insert: ["c"] },
    patches: { a: { n: 2 } },
  });
  t.same(ids(), ["c", "a", "b"]);
  t.match(view().rows[1], { id: "a", n: 2 });
  t.equal(view().rows[2], before);
  notify({
    total: 5,
    offset: 0,
    objects: {},
    patches: {},
    splice: { at: 1, remove: 1, insert: [] },
  });
  t.same(ids(), ["c", "b"]);
});

t.test("an incomplete result is marked until it is complete", async (t) => {
  const { window, calls, notify, view } = started();
  window.connected();
  window.request(vms);
  await calls[0]!.answer({ ...(first as object), complete: false });
  t.equal(view().isComplete, false);
  const nothing = { total: 5, offset: 0, objects: {}, patches: {} };
  notify({ ...nothing, total: 6 });
  t.equal(view().isComplete, false, "an update does not change it");
  notify({ ...nothing, complete: true });
  t.equal(view().isComplete, true);
  notify({ ...nothing, complete: false });
  notify({ ...nothing, reset: true });
  t.equal(view().isComplete, true, "a full update without it is complete");
});

t.test("of many quick changes the last one applies", async (t) => {
  const { window, calls } = await live();
  for (const offset of [10, 20, 30]) window.request({ ...vms, offset });
  t.match(calls[1], { method: "query.change", params: { offset: 10 } });
  t.notOk("filter" in calls[1]!.params, "unchanged rows are not reported");
  await calls[1]!.answer();
  t.match(calls[2]!.params, { offset: 30 });
  await calls[2]!.answer();
  t.equal(calls.length, 3);
});

t.test("another type is opened again, and shows no old rows", async (t) => {
  const { window, calls, view, notify } = await live();
  window.request({ type: "host", offset: 0, limit: 2 });
  t.same(view().rows, []);
  t.equal(calls[1]!.method, "query.open");
  notify({ total: 9, offset: 0, objects: {}, patches: { a: { n: 3 } } });
  t.same(view().rows, [], "the last update of the old one is ignored");
});

t.test("an error is shown, and the old query ends", async (t) => {
  const { window, calls, view, notify } = await live();
  window.request({ ...vms, filter: "((" });
  await calls[1]!.fail(new RpcError(10, "no such filter"));
  t.match(view(), { state: "refused", error: "no such filter", rows: [] });
  t.equal(calls[2]!.method, "query.close");
  notify({ total: 5, offset: 0, objects: {}, patches: { a: { n: 3 } } });
  t.equal(view().state, "refused");
  window.request(vms);
  await calls[2]!.answer();
  t.equal(calls[3]!.method, "query.open");
  await calls[3]!.answer(first);
  t.equal(view().state, "live");
});

t.test(
  "a query that was not answered in time is requested again",
  async (t) => {
    const { window, calls, view, ids } = started();
    window.connected();
    window.request(vms);
    await calls[0]!.fail(new NoAnswerError("query.open"));
    t.equal(view().state, "loading");
    t.match(calls[1], { method: "query.open", params: vms });
    await calls[1]!.answer(first);
    t.same(ids(), ["a", "b"]);
  },
);

t.test("server down: rows stay, and updates resume afterwards", async (t) => {
  const { window, calls, view, ids } = await live();
  const [before] = view().rows;
  window.request({ ...vms, offset: 1 });
  window.disconnected();
  await calls[1]!.fail(new ConnectionLostError("gone"));
  t.equal(view().state, "stale");
  t.same(ids(), ["a", "b"]);
  window.connected();
  t.match(calls[2], { method: "query.open", params: { offset: 1 } });
  await calls[2]!.answer({
    ...(first as object),
    splice: { at: 0, remove: 0, insert: ["a", "d"] },
    objects: { a: row("a"), d: row("d") },
  });
  t.equal(view().state, "live");
  t.same(ids(), ["a", "d"]);
  t.equal(view().rows[0], before, "an unchanged row keeps its identity");
});

t.test("after the session nothing is shown or requested", async (t) => {
  const { window, calls, views, notify } = await live();
  window.close();
  t.equal(calls[1]!.method, "query.close");
  await calls[1]!.answer();
  const { length } = views;
  notify({ total: 1, offset: 0, objects: {}, patches: {} });
  t.equal(views.length, length);
  window.connected();
  t.equal(calls.length, 2);
});

t.test("a name cannot change the direction of text", async (t) => {
  const { window, calls, notify, view } = started();
  window.connected();
  window.request(vms);
  await calls[0]!.answer({
    ...(first as object),
    objects: {
      a: row("a", { name_label: "\u202elive\u202c", tags: ["\u202eevil"] }),
      b: row("b", { name_label: "שלום" }),
    },
  });
  t.match(view().rows, [{ name_label: "live" }, { name_label: "שלום" }]);
  t.match(view().rows[0], { tags: ["\u202eevil"] }, "a tag is its own key");
  notify({
    revision: 2,
    total: 5,
    offset: 0,
    patches: { a: { name_label: "\u2067prod" } },
  });
  t.match(view().rows[0], { name_label: "prod" });
});
