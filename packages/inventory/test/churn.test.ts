import t from "tap";
import type { InventoryStats } from "@xo-server/inventory";
import { FakePool } from "./fake-pool.js";
import { contentOf, contentOfPool, mirror } from "./mirror-pool.js";

type Figure = "tableBytes" | "segmentBytes" | "segments" | "feedBytes";

const OBJECTS = 2000;
const ROUNDS = 300;

/** A content that is like no other, and not always as long. */
const record = (ref: string, round: number) => ({
  uuid: `uuid-${ref}`,
  name_label: ref,
  round,
  padding: "x".repeat((round * 97 + ref.length * 31) % 900),
});

t.test("200,000 changes leave tables and segments unchanged", async (t) => {
  const pool = new FakePool(["VM"]);
  pool.batchSize = 100;
  let refs = Array.from({ length: OBJECTS }, (_, i) => `OpaqueRef:${i}`);
  for (const ref of refs) pool.put("VM", ref, record(ref, 0));
  const { inventory, handle, poll } = await mirror(pool);
  const figures: InventoryStats[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    refs = refs.map((ref, i) => {
      // Some change each time, others every eighth time: segments are left with a few that live.
      if (round % (1 + (i % 8)) !== 0) return ref;
      // One in ten is deleted, and another added: rows and numbers of segments are used again.
      const goes = (i + round) % 10 === 0;
      if (goes) pool.delete("VM", ref);
      const next = goes ? `OpaqueRef:${i}-${round}` : ref;
      pool.put("VM", next, record(next, round));
      return next;
    });
    await poll();
    figures.push(inventory.stats);
  }
  t.ok(inventory.revision >= 200_000);
  t.equal(inventory.objects, OBJECTS);
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  const third = ROUNDS / 3;
  const most = (key: Figure, rounds = figures.slice(-third)) =>
    Math.max(...rounds.map((one) => one[key]));
  const before = most("tableBytes", figures.slice(0, third));
  t.ok(most("tableBytes") <= before, `${most("tableBytes")} after ${before}`);
  t.ok(most("feedBytes") <= inventory.stats.feedLimitBytes);
  const live = Math.max(...figures.map(({ liveBytes }) => liveBytes));
  // The open segment and what is not worth emptying yet.
  const bound = live * 1.4 + 2 * 256 * 1024;
  t.ok(most("segmentBytes") <= bound, `${most("segmentBytes")} for ${live}`);
  t.ok(most("segments") <= Math.ceil(bound / (256 * 1024)) + 1);
  await handle.stop();
});
