import {
  request as requestHttp,
  type Agent,
  type IncomingMessage,
} from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { toAnswerError, toConnectionError } from "./connection-error.js";
import { addressOf } from "./server-url.js";
import { RequestError } from "../cli-error.js";

export interface RestRequest {
  readonly method: string;
  /** Relative to the URL of the server, with the query. */
  readonly path: string;
  readonly body?: string | Readable;
  readonly headers?: Readonly<Record<string, string | number>>;
}

interface RestOptions {
  readonly url: string;
  readonly agent: Agent;
  readonly token: string | undefined;
}

const MAX_REDIRECTS = 3;

/** REST client, authenticated by a cookie. */
export class Rest {
  readonly #options: RestOptions;

  constructor(options: RestOptions) {
    this.#options = options;
  }

  /** @returns a successful response, with its body unread. @throws RequestError, XoError */
  async request(request: RestRequest): Promise<IncomingMessage> {
    let path = request.path;
    for (let hop = 0; ; hop++) {
      const response = await this.#send({ ...request, path });
      const { statusCode = 0 } = response;
      if (statusCode < 300) return response;
      const next = this.#redirection(response);
      // Redirects such as that of `/users/me` keep method and body, and stay on the server.
      if (
        next === undefined ||
        hop === MAX_REDIRECTS ||
        (request.body !== undefined && typeof request.body !== "string")
      )
        throw await toRequestError(response);
      response.resume();
      path = next;
    }
  }

  async getJson(path: string): Promise<unknown> {
    const response = await this.request({ method: "GET", path });
    return readJson(response);
  }

  #redirection({ statusCode, headers }: IncomingMessage): string | undefined {
    if (![307, 308].includes(statusCode ?? 0)) return undefined;
    const base = new URL(this.#options.url);
    const to = new URL(headers.location ?? "", base);
    return to.origin === base.origin ? to.pathname + to.search : undefined;
  }

  #send({
    method,
    path,
    body,
    headers,
  }: RestRequest): Promise<IncomingMessage> {
    const { url, agent, token } = this.#options;
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const outgoing = send(new URL(path, url), {
        method,
        agent,
        headers: {
          accept: "application/json, application/x-ndjson, */*;q=0.5",
          ...(token === undefined
            ? {}
            : { cookie: `authenticationToken=${token}` }),
          ...headers,
        },
      });
      const fail = (error: Error): void => {
        reject(toConnectionError(addressOf(url), error));
      };
      outgoing.on("error", fail).on("response", resolve);
      if (body === undefined || typeof body === "string") outgoing.end(body);
      else
        body
          .on("error", (error) => {
            outgoing.destroy();
            reject(error);
          })
          .pipe(outgoing);
    });
  }
}

/** Reads the whole body. @throws XoError CONNECTION_LOST */
export async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    throw toAnswerError(error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** @throws XoError CONNECTION_LOST, BAD_ANSWER */
export async function readJson(response: IncomingMessage): Promise<unknown> {
  const text = await readText(response);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new XoError("BAD_ANSWER", {
      address: "the server",
      reason: (error as Error).message,
      start: JSON.stringify(text.slice(0, 40)),
    });
  }
}

const CODES: Readonly<Record<number, string>> = {
  400: "INVALID_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NO_SUCH_OBJECT",
  422: "INVALID_PARAMETERS",
  429: "TOO_MANY_REQUESTS",
};

/** Converts an error response, in any of the shapes of xo-server and Xen Orchestra. */
async function toRequestError(
  response: IncomingMessage,
): Promise<RequestError> {
  const { statusCode = 0, statusMessage = "" } = response;
  const text = await readText(response);
  const status = `${statusCode} ${statusMessage}`.trim();
  let body: { error?: unknown; data?: unknown; code?: unknown };
  try {
    body = Object(JSON.parse(text)) as typeof body;
  } catch {
    // An HTML page or an empty body is not a response of the API.
    const code = statusCode === 401 ? "UNAUTHORIZED" : `HTTP_${statusCode}`;
    return new RequestError(status, code);
  }
  const data = body.data;
  const own =
    (data as { code?: unknown } | null | undefined)?.code ?? body.code;
  const code =
    typeof own === "string" ? own : (CODES[statusCode] ?? `HTTP_${statusCode}`);
  const message =
    typeof body.error === "string"
      ? body.error
      : body.error === undefined
        ? status
        : JSON.stringify(body.error);
  return new RequestError(message, code, data);
}
