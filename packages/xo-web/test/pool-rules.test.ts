import t from "tap";
import type { PoolStatus } from "../src/api/status.js";
import { adviceFor } from "../src/status/advice.js";
import { fingerprintIn } from "../src/status/fingerprint.js";
import { History } from "../src/status/history.js";
import { matchesFilter } from "../src/status/pool-filter.js";
import { countByGroup, poolGroup } from "../src/status/pool-group.js";
import { sparkPath } from "../src/ui/spark-path.js";
import { stableOrder } from "../src/status/stable-order.js";
import { en } from "../src/locale/en/all.js";

const paris: PoolStatus = {
  id: "p",
  label: "Paris",
  address: "10.0.0.1",
  state: "watching",
  since: "2026-01-01T00:00:00Z",
  staleSince: null,
  error: null,
  transport: "json-rpc",
  objects: 0,
  counts: {},
  changesPerSecond: 0,
  lastChangeAt: null,
  loadMs: null,
  loadBytes: null,
  revision: 0,
};

t.test(
  "a pool that connects again after an error is a problem still",
  async (t) => {
    const error = { code: "UNREACHABLE", message: "" };
    t.equal(poolGroup({ ...paris, state: "connecting" }), "loading");
    t.equal(poolGroup({ ...paris, state: "connecting", error }), "problem");
    const { error: gone, ...patched } = {
      ...paris,
      state: "connecting" as const,
    };
    t.equal(gone, null);
    t.equal(
      poolGroup(patched),
      "loading",
      "a null may be absent after a patch",
    );
    t.same(countByGroup([paris, { ...paris, state: "failed" }]), {
      live: 1,
      loading: 0,
      problem: 1,
      stopped: 0,
    });
  },
);

t.test(
  "a filter requires all its texts, in any of name, address and transport",
  async (t) => {
    const matches = (text: string) =>
      matchesFilter(paris, { text, group: "all" });
    t.ok(matches(""));
    t.ok(matches(" paris RPC "));
    t.ok(matches("10.0"));
    t.notOk(matches("paris xml"));
    t.notOk(matchesFilter(paris, { text: "", group: "problem" }));
  },
);

t.test(
  "a frozen list does not move; new rows come last, deleted ones are marked",
  async (t) => {
    const order = (held: boolean) =>
      stableOrder(["b", "a", "x"], ["a", "b", "c"], {
        held,
        exists: (id) => id !== "x",
      });
    t.same(order(true), ["b", "a", "c"]);
    t.same(order(false), ["a", "b", "c"]);
  },
);

t.test(
  "a history holds the last seconds, and is empty without values",
  async (t) => {
    const history = new History(4);
    t.same(history.values, [null, null, null, null]);
    history.set(10, 1);
    history.set(11, 2);
    history.set(11, 3);
    t.same(history.values, [null, null, 1, 3]);
    history.set(13, 5);
    t.same(history.values, [1, 3, null, 5]);
    history.set(12, 9);
    t.same(history.values, [1, 3, null, 5], "the past stays");
    t.equal(history.highest, 5);
    history.set(1_000_000, 7);
    t.same(history.values, [null, null, null, 7]);
  },
);

t.test("a line is interrupted where values are missing", async (t) => {
  const box = { width: 30, height: 10, top: 10 };
  t.equal(sparkPath([0, 10, null, 5], box), "M0 10L10 0M30 5");
  t.equal(sparkPath([0, 20], box, true), "M0 10L30 0L30 10L0 10Z");
  t.equal(sparkPath([null, null], box), "");
  t.equal(sparkPath([3], { ...box, top: 0 }), "M0 10");
});

t.test(
  "a fingerprint is found in a message, with colons or without",
  async (t) => {
    const hex = "9c".repeat(32);
    const pairs = Array.from({ length: 32 }, () => "9C").join(":");
    t.equal(fingerprintIn(`is ${hex}; pinned`), pairs);
    t.equal(fingerprintIn(`is ${pairs.toLowerCase()}`), pairs);
    t.equal(fingerprintIn("no 9c:9c here"), undefined);
  },
);

t.test("an error without a specific remedy gets the general one", async (t) => {
  t.match(adviceFor("TLS_UNTRUSTED", en), { title: /Certificate/ });
  t.equal(adviceFor("constructor", en), en.advice.fallback);
});
