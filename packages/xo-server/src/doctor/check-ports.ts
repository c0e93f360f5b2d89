import { createServer } from "node:net";
import { XoError } from "@xo-server/model";
import { request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { listen } from "../api/http/listen.js";
import type { Config } from "../config/config.js";
import { failed, ok, warning, type Result } from "./finding.js";

const TIMEOUT_MS = 3_000;

/**
 * Checks whether the ports are free, or used by a running xo-server.
 * @param isStarted false: this server has never been started, so that it is another one
 */
export async function checkPorts(
  http: Config["http"],
  isStarted: boolean,
): Promise<Result[]> {
  const { host, port, tls } = http;
  const hasTls = tls.selfSigned || tls.certificate !== "";
  const found = await checkPort({ host, port }, "http.port", hasTls);
  const results = [
    found.isServer && !isStarted
      ? failed(
          `another xo-server uses port ${port}: this one has no database yet`,
          "check --config and --data, stop the other one, or change http.port",
        )
      : found.result,
  ];
  if (hasTls && tls.redirectPort !== 0)
    results.push(
      (
        await checkPort(
          { host, port: tls.redirectPort },
          "http.tls.redirectPort",
          false,
        )
      ).result,
    );
  return results;
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

interface CheckedPort {
  readonly result: Result;
  /** An xo-server runs there. */
  readonly isServer: boolean;
}

async function checkPort(
  endpoint: Endpoint,
  key: string,
  hasTls: boolean,
): Promise<CheckedPort> {
  const server = createServer();
  const other = (result: Result) => ({ result, isServer: false });
  try {
    await listen(server, endpoint, key);
    return other(ok(`${endpoint.host}:${endpoint.port} is free (${key})`));
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
    if (error.code === "PORT_IN_USE") {
      const result = await findServer(endpoint, hasTls);
      return result === undefined
        ? other(inUse(error, key))
        : { result, isServer: true };
    }
    return other(
      failed(
        error.message,
        "a port below 1024 needs CAP_NET_BIND_SERVICE (examples/port-443.conf); http.host must be an address of this machine, or 0.0.0.0",
      ),
    );
  } finally {
    server.close();
  }
}

function inUse(error: XoError, key: string): Result {
  return failed(
    error.message,
    `find the program (ss -ltnp), stop it, or change ${key}`,
  );
}

/** @returns undefined: another program answers */
async function findServer(
  { host, port }: Endpoint,
  hasTls: boolean,
): Promise<Result | undefined> {
  const local: Readonly<Record<string, string>> = {
    "0.0.0.0": "127.0.0.1",
    "::": "::1",
  };
  const name = local[host] ?? host;
  const health = await getJson(
    `${hasTls ? "https" : "http"}://${name.includes(":") ? `[${name}]` : name}:${port}/health`,
  );
  if (health === undefined || typeof health["ready"] !== "boolean")
    return undefined;
  return health["ready"]
    ? ok(`xo-server runs on port ${port} and is ready`)
    : warning(
        `xo-server runs on port ${port} and is not ready: ${JSON.stringify(health)}`,
        "wait until pools are loaded; see its log",
      );
}

/** Requests JSON from this machine. The certificate is not verified, because no secret is sent. */
function getJson(url: string): Promise<Record<string, unknown> | undefined> {
  const request = url.startsWith("https:") ? requestTls : requestPlain;
  return new Promise((resolve) => {
    const options = { rejectUnauthorized: false, timeout: TIMEOUT_MS };
    const sent = request(url, options, (response) => {
      let text = "";
      response
        .setEncoding("utf8")
        .on("data", (part: string) => (text += part))
        .on("end", () => resolve(toObject(text)));
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(undefined));
    sent.end();
  });
}

function toObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? { ...value }
      : undefined;
  } catch {
    // Another program answers on this port.
    return undefined;
  }
}
