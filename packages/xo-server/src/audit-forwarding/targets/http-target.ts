import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { XoError } from "@xo-server/model";
import { readConfigSecret } from "../../auth/providers/read-secret.js";
import { toAuditLine, type LineOptions } from "./audit-line.js";
import { readTlsFiles } from "./tls-files.js";
import {
  SEND_TIMEOUT_MS,
  type AuditTarget,
  type TargetConfig,
} from "./target.js";

/** JSON lines by POST; a status of 200 to 299 is the acknowledgement. Redirects are not followed. */
export function createHttpTarget(
  url: URL,
  config: TargetConfig,
  options: LineOptions,
): AuditTarget {
  return {
    address: url.origin + url.pathname,
    async send(records, signal) {
      const lines = records.map((record) => toAuditLine(record, options));
      const { statusCode = 0 } = await post(url, `${lines.join("\n")}\n`, {
        token: await readConfigSecret(config, "token"),
        tls: await readTlsFiles(config),
        signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]),
      });
      if (statusCode < 200 || statusCode > 299)
        throw new XoError("UNREACHABLE", {
          address: url.host,
          reason: `HTTP status ${statusCode}`,
        });
    },
  };
}

interface PostOptions {
  readonly token: string;
  readonly tls: Awaited<ReturnType<typeof readTlsFiles>>;
  readonly signal: AbortSignal;
}

/** The response without its body, which is not used. */
function post(
  url: URL,
  text: string,
  { token, tls, signal }: PostOptions,
): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      ...tls,
      method: "POST",
      agent: false,
      signal,
      headers: {
        "content-type": "application/x-ndjson",
        "content-length": Buffer.byteLength(text),
        "user-agent": "xo-server",
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.destroy();
      resolve(response);
    });
    sent.end(text);
  });
}
