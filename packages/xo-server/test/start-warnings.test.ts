import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { checkDataDir } from "../src/boot/check-data-dir.js";
import { logConfigSummary } from "../src/boot/log-config-summary.js";
import type { ServerOptions } from "../src/boot/server-options.js";
import { loadConfig } from "../src/config/load-config.js";

/** Warnings of a start with this configuration. */
async function warningsOf(home: string, yaml: string): Promise<string> {
  await writeFile(join(home, "config.yaml"), yaml);
  const input = loadConfig(undefined, {}, { env: {}, cwd: home, home });
  const warnings: string[] = [];
  const none = () => undefined;
  const logger = {
    debug: none,
    info: none,
    warn: (message: string) => void warnings.push(message),
    error: none,
  };
  const loggers = { named: () => logger, flush: () => Promise.resolve() };
  const options = { ...input, loggers } as unknown as ServerOptions;
  logConfigSummary(options);
  await checkDataDir(options);
  return warnings.join("\n");
}

t.test("plain HTTP that other machines reach is a warning", async (t) => {
  const home = t.testdir();
  const clear = /Plain HTTP on .*: passwords and tokens can be read/;
  t.match(await warningsOf(home, ""), clear, "by default");
  for (const http of [
    "host: 127.0.0.1",
    "host: localhost",
    "tls: { selfSigned: true }",
    "trustedProxies: [192.0.2.1]",
  ])
    t.notMatch(await warningsOf(home, `http: { ${http} }`), clear, http);
});

t.test("a data directory that others can enter is a warning", async (t) => {
  const home = t.testdir();
  const dataDir = join(home, "data");
  const warnings = () => warningsOf(home, `dataDir: ${dataDir}`);
  t.notMatch(await warnings(), "can enter", "it does not exist yet");
  await mkdir(dataDir);
  await chmod(dataDir, 0o755);
  t.match(
    await warnings(),
    `other users can enter ${dataDir} (mode 0755): chmod 700 ${dataDir}`,
  );
  await chmod(dataDir, 0o700);
  t.notMatch(await warnings(), "can enter");
});
