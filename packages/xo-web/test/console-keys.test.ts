import t from "tap";
import { toKeyStrokes } from "../src/consoles/key-strokes.js";
import { typeText } from "../src/consoles/type-text.js";

t.test("a text becomes the keys of a US keyboard", async (t) => {
  t.same(toKeyStrokes("aA1! \t"), [
    { keysym: 0x61, code: "KeyA", shift: false },
    { keysym: 0x41, code: "KeyA", shift: true },
    { keysym: 0x31, code: "Digit1", shift: false },
    { keysym: 0x21, code: "Digit1", shift: true },
    { keysym: 0x20, code: "Space", shift: false },
    { keysym: 0xff09, code: "Tab", shift: false },
  ]);
});

t.test("every printable ASCII character has a keysym", async (t) => {
  for (let code = 0x20; code < 0x7f; code++) {
    const [stroke] = toKeyStrokes(String.fromCharCode(code));
    t.ok(stroke!.code, String.fromCharCode(code));
    t.equal(stroke!.keysym, code);
  }
});

t.test("line ends of all kinds are one Return each", async (t) => {
  const keys = toKeyStrokes("\r\n\r\n").map(({ code }) => code);
  t.same(keys, ["Enter", "Enter"]);
});

t.test(
  "other characters are sent as keysyms, control characters are not",
  async (t) => {
    t.same(toKeyStrokes("ü€😀\x03\x1b\x7f"), [
      { keysym: 0xfc, code: null, shift: false },
      { keysym: 0x010020ac, code: null, shift: false },
      { keysym: 0x0101f600, code: null, shift: false },
    ]);
  },
);

t.test(
  "keys are pressed and released one after the other, with Shift around them",
  async (t) => {
    const sent: [number, boolean][] = [];
    const reported: number[] = [];
    const isWhole = await typeText("aB", {
      sendKey: (keysym, _code, down) => sent.push([keysym, down]),
      pause: async () => undefined,
      onProgress: (done) => reported.push(done),
    });
    t.ok(isWhole);
    t.same(sent, [
      [0x61, true],
      [0x61, false],
      [0xffe1, true],
      [0x42, true],
      [0x42, false],
      [0xffe1, false],
    ]);
    t.same(reported, [1, 2]);
  },
);

t.test("typing can be aborted between two keys", async (t) => {
  const stop = new AbortController();
  let keys = 0;
  const isWhole = await typeText("abc", {
    sendKey: () => {
      keys++;
    },
    pause: async () => {
      stop.abort();
    },
    signal: stop.signal,
  });
  t.notOk(isWhole);
  t.equal(keys, 2);
});
