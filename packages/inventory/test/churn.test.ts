import t from "tap";
import type { InventoryStats } from "@xo-server/inventory";
import { FakePool } from "./fake-pool.js";
import { contentOf, contentOfPool, mirror } from "./mirror-pool.js";

const OBJECTS = 2000;
const ROUNDS = 100;

/** A content that is like no other, and not always as long. */
const record = (ref: string, round: number) => ({
  uuid: `uuid-${ref}`,
  name_label: ref,
  round,
  padding: "x".repeat((round * 97 + ref.length * 31) % 300),
});

t.test("200,000 changes leave tables and segments as they were", async (t) => {
  const pool = new FakePool(["VM"]);
  pool.batchSize = 100;
  let refs = Array.from({ length: OBJECTS }, (_, i) => `OpaqueRef:${i}`);
  for (const ref of refs) pool.put("VM", ref, record(ref, 0));
  const { inventory, handle, poll } = await mirror(pool);
  const figures: InventoryStats[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    // One in ten goes, and another comes: rows and numbers of segments are used again.
    refs = refs.map((ref, i) => {
      const goes = i % 10 === round % 10;
      if (goes) pool.delete("VM", ref);
      const next = goes ? `OpaqueRef:${i}-${round}` : ref;
      pool.put("VM", next, record(next, round));
      return next;
    });
    await poll();
    figures.push(inventory.stats);
  }
  t.ok(inventory.revision >= OBJECTS * (ROUNDS + 1));
  t.equal(inventory.objects, OBJECTS);
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  const most = (
    key: "tableBytes" | "segmentBytes" | "segments" | "feedBytes",
  ) => Math.max(...figures.slice(ROUNDS / 2).map((one) => one[key]));
  const tenth = figures[9]!;
  t.ok(most("tableBytes") <= tenth.tableBytes, `${most("tableBytes")}`);
  t.ok(most("feedBytes") <= inventory.stats.feedLimitBytes);
  const live = Math.max(...figures.map(({ liveBytes }) => liveBytes));
  // The open segment and what is not worth emptying yet.
  const bound = live * 1.4 + 2 * 256 * 1024;
  t.ok(most("segmentBytes") <= bound, `${most("segmentBytes")} for ${live}`);
  t.ok(most("segments") <= Math.ceil(bound / (256 * 1024)) + 1);
  await handle.stop();
});
