import { writeSync } from "node:fs";
import { openStore } from "@xo-server/store";

// Writes until it is killed, and prints the acknowledged writes: `s N` or `a SEQ`.
const [location = "", keyFile = "", first = "0"] = process.argv.slice(2);
const store = await openStore({ location, key: { file: keyFile } });
const say = (line: string) => writeSync(1, `${line}\n`);

async function write(lane: number): Promise<void> {
  for (let i = Number(first) + lane; ; i += 4) {
    await store.settings.set(`k${i}`, i);
    say(`s ${i}`);
    const { seq } = await store.audit.append({
      operation: `k${i}`,
      outcome: "success",
    });
    say(`a ${seq}`);
  }
}

await Promise.all([0, 1, 2, 3].map(write));
