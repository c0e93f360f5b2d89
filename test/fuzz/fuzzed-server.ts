import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLoggers, loadConfig, startServer } from "@xo-server/xo-server";

export const ADMIN_PASSWORD = "a password of tests";

export interface FuzzedServer {
  readonly port: number;
  /** Lines that were logged as errors. */
  readonly defects: string[];
}

/** A server without pools in a new folder. It ends with the process. */
export async function startFuzzedServer(): Promise<FuzzedServer> {
  const home = mkdtempSync(join(tmpdir(), "xo-fuzz-server-"));
  const environment = { env: {}, cwd: home, home };
  const defects: string[] = [];
  const server = await startServer({
    ...loadConfig(
      undefined,
      { host: "127.0.0.1", port: 0, dataDir: join(home, "data") },
      environment,
    ),
    env: { XO_ADMIN_PASSWORD: ADMIN_PASSWORD },
    loggers: createLoggers({
      format: "json",
      destination: {
        write: (line: string) =>
          void (line.includes('"level":"error"') && defects.push(line)),
      },
    }),
  });
  return { port: Number(new URL(server.url).port), defects };
}
