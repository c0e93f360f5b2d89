import { EventEmitter } from "node:events";
import t from "tap";
import { readHiddenLine } from "../src/index.js";

class FakeTerminal extends EventEmitter {
  readonly rawModes: boolean[] = [];
  isPaused = false;
  setRawMode(mode: boolean): void {
    this.rawModes.push(mode);
  }
  resume(): void {
    this.isPaused = false;
  }
  pause(): void {
    this.isPaused = true;
  }
}

const cases: readonly [string, string[], string | undefined][] = [
  ["a line ends with Enter", ["sec", "ret\r"], "secret"],
  ["Backspace deletes the last character", ["secx\u007fret\n"], "secret"],
  ["Ctrl-D ends the line", ["secret\u0004"], "secret"],
  ["Ctrl-C cancels", ["sec\u0003"], undefined],
  ["keys after the end are not part of the line", ["one\ntwo"], "one"],
];

for (const [title, chunks, expected] of cases)
  t.test(title, async (t) => {
    const terminal = new FakeTerminal();
    const line = readHiddenLine(terminal);
    for (const chunk of chunks) terminal.emit("data", Buffer.from(chunk));
    t.equal(await line, expected);
    t.same(terminal.rawModes, [true, false], "raw mode is restored");
    t.equal(terminal.listenerCount("data"), 0);
    t.equal(terminal.isPaused, true);
  });
