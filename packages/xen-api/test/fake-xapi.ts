import {
  createServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** A call as received by the fake pool. */
export interface FakeCall {
  readonly path: string;
  readonly method: string;
  /** As sent, session first. */
  readonly params: readonly unknown[];
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
}

/** Reply of a script: a value, an error, or raw bytes. */
export type FakeReply =
  | { readonly value: unknown }
  | { readonly error: readonly string[] }
  /** Sent unchanged, then the connection is closed unless `keep`. */
  | { readonly raw: string | Uint8Array; readonly keep?: boolean }
  /** Nothing is sent. */
  | { readonly silent: true }
  /** The connection is closed without an answer. */
  | { readonly cut: true };

export type FakeScript = (call: FakeCall) => FakeReply | Promise<FakeReply>;

export const SESSION = "OpaqueRef:5e551011-0000-4000-8000-00000000cafe";
export const POOL = "OpaqueRef:9001aaaa-0000-4000-8000-000000000001";
export const POOL_UUID = "9001bbbb-0000-4000-8000-000000000001";
export const TOKEN = "00000000000000000100,00000000000000000000";

/**
 * A scripted pool: parses calls (JSON-RPC with JSON.parse, of XML-RPC only the
 * method name) and answers as the test says. Deliberately shares no code with
 * the client.
 */
export class FakeXapi {
  readonly calls: FakeCall[] = [];
  readonly sockets = new Set<Socket>();
  readonly #server: Server;
  #script: FakeScript;
  #sockets = 0;

  constructor(script: FakeScript, tls?: { key: string; cert: string }) {
    this.#script = script;
    const listener = (socket: Socket) => {
      this.#serve(socket);
    };
    this.#server =
      tls === undefined
        ? createServer(listener)
        : createTlsServer({ ...tls }, listener);
    this.#server.on("tlsClientError", () => undefined);
  }

  get connections(): number {
    return this.#sockets;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Where it listens. */
  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  /** Method names in order of arrival. */
  get methods(): readonly string[] {
    return this.calls.map(({ method }) => method);
  }

  listen(host = "127.0.0.1", port = 0): Promise<this> {
    return new Promise((resolve, reject) => {
      this.#server.on("error", reject);
      this.#server.listen(port, host, () => {
        resolve(this);
      });
    });
  }

  answer(script: FakeScript): void {
    this.#script = script;
  }

  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): Promise<void> {
    this.cutAll();
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  #serve(socket: Socket): void {
    this.#sockets++;
    this.sockets.add(socket);
    let pending = Buffer.alloc(0);
    socket.on("error", () => undefined);
    socket.on("close", () => this.sockets.delete(socket));
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      const request = takeRequest(pending);
      if (request === undefined) return;
      pending = pending.subarray(request.length);
      void this.#reply(socket, request.head, request.body);
    });
  }

  async #reply(socket: Socket, head: string, body: string): Promise<void> {
    const path = head.split(" ")[1] ?? "";
    const isJson = path === "/jsonrpc" && body.startsWith("{");
    const json = isJson
      ? (JSON.parse(body) as { method: string; params: unknown[] })
      : undefined;
    const method = json?.method ?? /<methodName>([^<]*)/.exec(body)?.[1] ?? "";
    const params = json?.params ?? xmlTexts(body);
    const call = { path, method, params, head, body, socket };
    this.calls.push(call);
    const reply = await this.#script(call);
    if ("silent" in reply) return;
    if ("cut" in reply) {
      socket.destroy();
      return;
    }
    if ("raw" in reply) {
      socket.write(reply.raw);
      if (reply.keep !== true) socket.end();
      return;
    }
    socket.write(isJson ? jsonAnswer(reply) : xmlAnswer(reply));
  }
}

/** Answers the calls of a connecting client. `more` is asked first. */
export function poolScript(
  more: (call: FakeCall) => FakeReply | Promise<FakeReply> | undefined = () =>
    undefined,
): FakeScript {
  return (call) => {
    const special = more(call);
    if (special !== undefined) return special;
    switch (call.method) {
      case "session.login_with_password":
        return { value: SESSION };
      case "session.logout":
        return { value: "" };
      case "session.get_uuid":
        return { value: "5e55bbbb-0000-4000-8000-000000000001" };
      case "pool.get_all_records":
        return { value: { [POOL]: { uuid: POOL_UUID, name_label: "" } } };
      case "host.get_all_records":
        return { value: {} };
      case "event.inject":
        return { value: TOKEN };
      default:
        return { error: ["MESSAGE_METHOD_UNKNOWN", call.method] };
    }
  };
}

/** An HTTP answer with a body, as XAPI writes it. */
export function httpAnswer(
  body: string | Uint8Array,
  type = "application/json",
  status = "200 OK",
): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\ncontent-length: ${bytes.length}\r\nconnection: keep-alive\r\ncache-control: no-cache, no-store\r\ncontent-type: ${type}\r\n\r\n`,
    ),
    bytes,
  ]);
}

function takeRequest(bytes: Buffer) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.subarray(0, end).toString("latin1");
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const total = end + 4 + length;
  if (bytes.length < total) return undefined;
  return {
    head,
    body: bytes.subarray(end + 4, total).toString(),
    length: total,
  };
}

function xmlTexts(body: string): string[] {
  return [...body.matchAll(/<(?:string|int|double)>([^<]*)</g)].map(
    (match) => match[1] ?? "",
  );
}

function jsonAnswer(
  reply: { value: unknown } | { error: readonly string[] },
): Buffer {
  const [message, ...data] = "error" in reply ? reply.error : [];
  return httpAnswer(
    JSON.stringify(
      "error" in reply
        ? { jsonrpc: "2.0", error: { code: 1, message, data }, id: 0 }
        : { jsonrpc: "2.0", result: reply.value, id: 0 },
    ),
  );
}

function xmlAnswer(
  reply: { value: unknown } | { error: readonly string[] },
): Buffer {
  const members =
    "error" in reply
      ? `<member><name>Status</name><value>Failure</value></member><member><name>ErrorDescription</name>${xmlValue(reply.error)}</member>`
      : `<member><name>Status</name><value>Success</value></member><member><name>Value</name>${xmlValue(reply.value)}</member>`;
  return httpAnswer(
    `<?xml version="1.0"?><methodResponse><params><param><value><struct>${members}</struct></value></param></params></methodResponse>`,
    "text/xml",
  );
}

/** As XAPI writes values: integers without a tag. */
function xmlValue(value: unknown): string {
  if (typeof value === "boolean")
    return `<value><boolean>${Number(value)}</boolean></value>`;
  if (typeof value === "number" && !Number.isInteger(value))
    return `<value><double>${value}</double></value>`;
  if (Array.isArray(value))
    return `<value><array><data>${value.map(xmlValue).join("")}</data></array></value>`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) =>
        `<member><name>${name}</name>${xmlValue(member)}</member>`,
    );
    return `<value><struct>${members.join("")}</struct></value>`;
  }
  return `<value>${String(value).replace(/&/g, "&amp;").replace(/</g, "&lt;")}</value>`;
}
