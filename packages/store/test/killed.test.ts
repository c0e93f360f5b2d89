import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createBench } from "@xo-server/store/conformance";
import { createRandom, pickSeed } from "./random.js";
import { sqliteHarness } from "./sqlite-harness.js";

const writer = fileURLToPath(new URL("./killed-writer.js", import.meta.url));
const ROUNDS = 6;

t.test("kill -9 loses no acknowledged change", async (t) => {
  const seed = pickSeed();
  t.comment(`SEED=${seed}`);
  const random = createRandom(seed);
  const bench = await createBench(t, sqliteHarness);
  const settings = new Set<number>();
  let lastSeq = 0;

  /** Kills the writer after a number of acknowledged changes. */
  async function runUntil(acknowledged: number, first: number): Promise<void> {
    const args = [writer, bench.location, bench.keyFile, `${first}`];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
      // Without the loaders of the test process.
      env: { PATH: process.env.PATH },
    });
    const closed = once(child, "close");
    let seen = 0;
    for await (const line of createInterface(child.stdout)) {
      const [kind, number] = line.split(" ");
      if (kind === "s") settings.add(Number(number));
      else lastSeq = Math.max(lastSeq, Number(number));
      if (++seen === acknowledged) child.kill("SIGKILL");
    }
    await closed;
  }

  for (let round = 0; round < ROUNDS; round++) {
    await runUntil(1 + Math.floor(random() * 400), round * 1_000_000);
    const store = await bench.open();
    const lost = [...settings].filter((i) => store.settings.get(`k${i}`) !== i);
    t.same(lost, [], `round ${round}: ${settings.size} settings`);
    const verdict = await store.audit.verify();
    t.ok(verdict.intact, "the chain is whole");
    t.ok(verdict.checked >= lastSeq, `${lastSeq} entries`);
    await store.close();
  }
});
