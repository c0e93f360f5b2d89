import t from "tap";
import type { RecordBuffer } from "@xo-server/model";
import { BatchWriters } from "../src/snapshot-cache/batch-writers.js";
import { ReleasedMemory } from "../src/store/released-memory.js";
import { createSegmentServices, Segments } from "../src/store/segments.js";

const SEGMENT_BYTES = 256 * 1024;

t.test("records that change all the time use the same few segments", (t) => {
  const segments = new Segments(createSegmentServices());
  const record = Buffer.alloc(1024, "r");
  const place = { offset: 0, length: 512 };
  const used = new Set<unknown>();
  const live: number[] = [];
  for (let i = 0; i < 100_000; i++) {
    const segment = segments.copy(record, place, place);
    segments.retain(segment, 1024);
    used.add(segments.bytesOf(segment).buffer);
    live.push(segment);
    if (live.length > 600) segments.release(live.shift()!, 1024);
  }
  t.ok(used.size <= 5, `${used.size} buffers for 400 segments`);
  t.end();
});

t.test("unused segments of all pools together are bounded", (t) => {
  const services = createSegmentServices();
  const { spare } = services;
  const pools = [new Segments(services), new Segments(services)];
  const record = Buffer.alloc(60 * 1024);
  const place = { offset: 0, length: 30 * 1024 };
  const used: [Segments, number][] = [];
  for (let i = 0; i < 400; i++)
    for (const segments of pools) {
      const segment = segments.copy(record, place, place);
      segments.retain(segment, 60 * 1024);
      used.push([segments, segment]);
    }
  for (const [segments, segment] of used) segments.release(segment, 60 * 1024);
  t.equal(spare.count, 16);
  t.equal(spare.take().byteLength, SEGMENT_BYTES);
  t.end();
});

t.test("a buffer that was received is not used again", (t) => {
  const services = createSegmentServices();
  const { spare } = services;
  const segments = new Segments(services);
  const number = segments.adopt(new ArrayBuffer(SEGMENT_BYTES));
  segments.retain(number, 1);
  segments.release(number, 1);
  t.equal(spare.count, 0, "its sender may still read it");
  t.end();
});

t.test("128 MiB of released shared memory begin a garbage collection", (t) => {
  let collections = 0;
  const released = new ReleasedMemory(() => void collections++);
  const segments = new Segments({ ...createSegmentServices(), released });
  const release = (buffer: RecordBuffer) => {
    const number = segments.adopt(buffer);
    segments.retain(number, 1);
    segments.release(number, 1);
  };
  const MIB = 1 << 20;
  for (let i = 0; i < 127; i++) release(new SharedArrayBuffer(MIB));
  for (let i = 0; i < 127; i++) release(new ArrayBuffer(MIB));
  t.equal(collections, 0, "V8 counts the others itself");
  release(new SharedArrayBuffer(MIB));
  t.equal(collections, 1);
  for (let i = 0; i < 127; i++) release(new SharedArrayBuffer(MIB));
  t.equal(collections, 1);
  t.end();
});

t.test("checkpoints use the same writers", (t) => {
  const writers = new BatchWriters();
  const one = writers.take();
  const other = writers.take();
  one.remove("VM", "OpaqueRef:a");
  writers.put(one);
  t.equal(writers.take(), one);
  t.equal(one.count, 0, "empty");
  for (let i = 0; i < 20_000; i++)
    other.remove("VM", `OpaqueRef:${String(i).padStart(36)}`);
  writers.put(other);
  t.equal(writers.count, 0, "not one that has written a whole pool");
  for (let i = 0; i < 10; i++) writers.put(new BatchWriters().take());
  t.equal(writers.count, 4);
  t.end();
});
