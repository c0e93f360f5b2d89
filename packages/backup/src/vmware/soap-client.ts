import type { IncomingMessage } from "node:http";
import { RepositoryError } from "../errors.js";
import { HttpClient } from "../net/http-client.js";
import { parseXml } from "../xml/parse-xml.js";
import { escapeXml } from "../xml/escape-xml.js";
import {
  childOf,
  elementAt,
  textAt,
  type XmlElement,
} from "../xml/xml-element.js";
import type { VmwareServer } from "./vmware-server.js";

/** Bytes of an answer: a page of the inventory. */
const MAX_ANSWER = 64 * 1024 * 1024;
const VERSION = "6.0";
const LOGOUT_MS = 5_000;

/** A managed object: `{ type: "VirtualMachine", id: "vm-55" }`. */
export interface ManagedObject {
  readonly type: string;
  readonly id: string;
}

/**
 * A session of the vSphere Web Services API (SOAP, `/sdk`). No message holds the
 * password or the session.
 */
export class SoapClient {
  readonly #server: VmwareServer;
  readonly #client: HttpClient;
  readonly #signal: AbortSignal;
  #cookie = "";
  #content: XmlElement | undefined;

  private constructor(server: VmwareServer, signal: AbortSignal) {
    const { host, tls } = server;
    this.#server = server;
    this.#signal = signal;
    this.#client = new HttpClient({ url: urlOf(host), tls, keepAlive: true });
  }

  /**
   * Signs in.
   * @throws RepositoryError `transfer-failed`: it does not answer, or refuses;
   * `untrusted`: its certificate; `source-invalid`: it is not such a server
   */
  static async open(
    server: VmwareServer,
    signal: AbortSignal,
  ): Promise<SoapClient> {
    const client = new SoapClient(server, signal);
    try {
      client.#content = childOf(
        await client.call(
          "RetrieveServiceContent",
          { type: "ServiceInstance", id: "ServiceInstance" },
          "",
        ),
        "returnval",
      );
      await client.signIn();
      return client;
    } catch (error) {
      client.#client.close();
      throw error;
    }
  }

  get name(): string {
    return this.#client.name;
  }

  /** A manager of the server, such as `viewManager`. */
  service(name: string): ManagedObject {
    const found = childOf(this.#content, name);
    if (found === undefined) throw invalid(`the server has no ${name}`);
    return toManagedObject(found);
  }

  async signIn(): Promise<void> {
    const { user, password } = this.#server;
    await this.call(
      "Login",
      this.service("sessionManager"),
      `<userName>${escapeXml(user)}</userName><password>${escapeXml(password)}</password>`,
    );
  }

  /** Signs out, if the server still answers. */
  async close(): Promise<void> {
    try {
      // Also after the operation was cancelled.
      const signal = AbortSignal.timeout(LOGOUT_MS);
      await this.call("Logout", this.service("sessionManager"), "", signal);
    } catch {
      // The session ends by itself after some time.
    } finally {
      this.#client.close();
    }
  }

  /**
   * Calls a method.
   * @param parameters as XML
   * @returns the element of the response
   * @throws RepositoryError `transfer-failed` with the text of a fault
   */
  async call(
    method: string,
    self: ManagedObject,
    parameters: string,
    signal = this.#signal,
  ): Promise<XmlElement> {
    const body = Buffer.from(
      `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><Body><${method} xmlns="urn:vim25">${reference("_this", self)}${parameters}</${method}></Body></Envelope>`,
    );
    const response = await this.#client.send({
      method: "POST",
      path: "/sdk",
      headers: {
        ...this.#session(),
        "content-type": "text/xml; charset=utf-8",
        "content-length": String(body.length),
        soapaction: `"urn:vim25/${VERSION}"`,
      },
      body: [body],
      // The others begin tasks.
      isRepeatable: !method.endsWith("_Task"),
      signal,
    });
    this.#keepCookie(response);
    const { statusCode } = response;
    const isAnswer = statusCode === 200 || statusCode === 500;
    if (!isAnswer) {
      response.destroy();
      throw failed(this.name, `it answers with status ${statusCode}`);
    }
    return this.#readAnswer(method, response, signal);
  }

  /** Reads bytes of a file. The caller reads the response to its end, or destroys it. */
  get(path: string, range?: string): Promise<IncomingMessage> {
    return this.#client.send({
      method: "GET",
      path,
      headers: {
        ...this.#session(),
        ...(range !== undefined && { range }),
      },
      isRepeatable: true,
      signal: this.#signal,
    });
  }

  /** The bytes of a response. */
  read(response: IncomingMessage): AsyncGenerator<Buffer, void> {
    return this.#client.read(response, this.#signal);
  }

  #session(): Record<string, string> {
    return this.#cookie === "" ? {} : { cookie: this.#cookie };
  }

  #keepCookie({ headers }: IncomingMessage): void {
    for (const cookie of headers["set-cookie"] ?? []) {
      const [pair = ""] = cookie.split(";");
      if (pair.startsWith("vmware_soap_session=")) this.#cookie = pair;
    }
  }

  async #readAnswer(
    method: string,
    response: IncomingMessage,
    signal: AbortSignal,
  ): Promise<XmlElement> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const bytes of this.#client.read(response, signal)) {
      size += bytes.length;
      if (size > MAX_ANSWER)
        throw invalid(`an answer of more than ${MAX_ANSWER} bytes`);
      parts.push(bytes);
    }
    const body = elementAt(parseXml(Buffer.concat(parts).toString()), "Body");
    const fault = childOf(body, "Fault");
    if (fault !== undefined)
      throw failed(this.name, `${method}: ${textAt(fault, "faultstring")}`);
    const answer = childOf(body, `${method}Response`);
    if (answer === undefined) throw invalid(`no response to ${method}`);
    return answer;
  }
}

/** @throws RepositoryError `invalid` */
function urlOf(host: string): URL {
  try {
    return new URL(`https://${host}/sdk`);
  } catch {
    throw new RepositoryError("invalid", "host: it is not a host name");
  }
}

/** A reference (`ManagedObjectReference` of the vSphere API) in an answer. */
export function toManagedObject(element: XmlElement): ManagedObject {
  return {
    type: element.attributes.get("type") ?? "",
    id: element.text.trim(),
  };
}

/** A managed object as a parameter. */
export function reference(name: string, { type, id }: ManagedObject): string {
  return `<${name} type="${escapeXml(type)}">${escapeXml(id)}</${name}>`;
}

function failed(server: string, reason: string): RepositoryError {
  return new RepositoryError("transfer-failed", `${server}: ${reason}`);
}

/** RepositoryError `source-invalid` about an answer of vSphere. */
export function invalid(reason: string): RepositoryError {
  return new RepositoryError("source-invalid", `vSphere: ${reason}`);
}
