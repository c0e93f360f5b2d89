import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { XoError } from "@xo-server/model";
import { toExampleConfig } from "../../src/config/example-config.js";
import { loadConfig } from "../../src/config/load-config.js";

const folder = mkdtempSync(join(tmpdir(), "xo-fuzz-config-"));
const file = join(folder, "config.yaml");
const environment = { env: {}, cwd: folder, home: folder };

export const seeds = [
  toExampleConfig(),
  'pools: [{ label: P, hosts: ["https://192.0.2.1"], password: x }]\nhttp: { port: 1, host: "::1" }',
  "a: &a [x, x]\nb: [*a, *a]\nxapi: { throttleMs: 1e3 }",
];

/** @throws what is not an XoError */
export function run(input: Buffer): void {
  writeFileSync(file, input);
  try {
    loadConfig(file, {}, environment);
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
  }
}
