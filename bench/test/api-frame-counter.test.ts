import t from "tap";
import { FrameCounter } from "../src/api/frame-counter.js";
import { readStamps, stampNow } from "../src/api/change-stamp.js";
import { maskedFrame } from "../src/api/raw-socket.js";

const frame = (first: number, length: number): Buffer => {
  const head =
    length < 126
      ? Buffer.from([first, length])
      : length < 65_536
        ? Buffer.from([first, 126, length >> 8, length & 0xff])
        : Buffer.alloc(10);
  if (length >= 65_536) {
    head[0] = first;
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, Buffer.alloc(length, 0x81)]);
};

const stream = Buffer.concat([
  frame(0x81, 0),
  frame(0x81, 100),
  // One message in three fragments, with a ping between.
  frame(0x01, 300),
  frame(0x89, 4),
  frame(0x00, 70_000),
  frame(0x80, 0),
  frame(0x81, 125),
]);

t.test("messages are counted however the bytes are cut", async (t) => {
  for (const step of [1, 2, 7, 1000, stream.length]) {
    const counter = new FrameCounter();
    for (let at = 0; at < stream.length; at += step)
      counter.add(stream.subarray(at, at + step));
    t.equal(counter.messages, 4, `in steps of ${step}`);
    t.equal(counter.payloadBytes, 100 + 300 + 70_000 + 125);
  }
});

t.test("the last chunk of a message is marked", async (t) => {
  const counter = new FrameCounter();
  const bytes = frame(0x81, 10);
  t.notOk(counter.add(bytes.subarray(0, 5)));
  t.ok(counter.add(bytes.subarray(5)));
});

t.test("a frame of a client has a mask of zeros", async (t) => {
  t.equal(maskedFrame("ab").toString("hex"), "8182000000006162");
  t.equal(maskedFrame("a".repeat(200)).length, 8 + 200);
});

t.test("moments of changes are found in a message", async (t) => {
  const now = stampNow();
  const [stamp] = readStamps(`{"name_description":"${now}"}`);
  t.ok(Math.abs(stamp! - Date.now()) < 1000);
  t.same(readStamps('{"other":{"sim:changed_at":"12.5"}}'), [12.5]);
});
