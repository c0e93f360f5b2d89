import { createHash } from "node:crypto";
import type { ProgramOwner } from "../../running-program.js";
import { RunningProgram } from "../../running-program.js";

export type Records = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** A simulated pool of two hosts in a process of its own, as its administrator sees it. */
export class SimulatedDisks {
  readonly urls: readonly string[];
  #url: string;
  #session = "";

  /** @param cwd its home: not that of the server, whose processes are counted */
  static async start(
    owner: ProgramOwner,
    cwd: string,
  ): Promise<SimulatedDisks> {
    const sizes = ["--hosts", "2", "--vms", "6", "--members", "1"];
    const program = new RunningProgram(
      owner,
      "xapi-sim",
      ["--json", "--prepare", "json", "--pace", "0.05", ...sizes],
      { cwd },
    );
    const line = await program.find(/^\{"pools":.*/);
    const { pools } = JSON.parse(line) as { pools: { urls: string[] }[] };
    return new SimulatedDisks(pools[0]!.urls);
  }

  private constructor(urls: readonly string[]) {
    this.urls = urls;
    this.#url = urls[0]!;
  }

  /** Another host becomes the coordinator. */
  async promote(): Promise<void> {
    await this.#post("promote", {});
  }

  /** A guest writes. */
  async write(vdi: string, bytes: number, seed: number): Promise<void> {
    await this.#post("write", { vdi, pattern: "random", bytes, seed });
  }

  /** SHA-256 of the content of a disk. */
  async hash(uuid: string): Promise<string> {
    const vdi = await this.call("VDI.get_by_uuid", [uuid]);
    const query = `vdi=${String(vdi)}&format=raw&session_id=${this.#session}`;
    const answer = await fetch(`${this.#url}/export_raw_vdi?${query}`);
    if (!answer.ok) throw new Error(`export: ${answer.status}`);
    const hash = createHash("sha256");
    for await (const chunk of answer.body! as AsyncIterable<Buffer>)
      hash.update(chunk);
    return hash.digest("hex");
  }

  async records(className: string): Promise<Records> {
    const all = await this.call(`${className}.get_all_records`, []);
    return new Map(
      Object.entries(all as Record<string, Record<string, unknown>>),
    );
  }

  /** Calls the coordinator, whichever host that is. @throws Error */
  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      if (this.#session === "") await this.#signIn();
      const answer = await this.#send(method, [this.#session, ...params]);
      const { code = "" } = answer;
      if (code === "") return answer.result;
      if (attempt === 5) throw new Error(`${method}: ${code}`);
      if (code !== "SESSION_INVALID" && code !== "HOST_IS_SLAVE")
        throw new Error(`${method}: ${code}`);
      this.#session = "";
    }
  }

  async #signIn(): Promise<void> {
    for (const url of this.urls) {
      this.#url = url;
      const credentials = ["root", "password", "", ""];
      const answer = await this.#send(
        "session.login_with_password",
        credentials,
      );
      if (answer.code !== undefined) continue;
      this.#session = String(answer.result);
      return;
    }
    throw new Error("no member is the coordinator");
  }

  async #send(
    method: string,
    params: readonly unknown[],
  ): Promise<{ readonly result?: unknown; readonly code?: string }> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await fetch(`${this.#url}/jsonrpc`, {
      method: "POST",
      body,
    });
    const { result, error } = (await answer.json()) as {
      result?: unknown;
      error?: { message: string };
    };
    return error === undefined ? { result } : { code: error.message };
  }

  async #post(path: string, body: object): Promise<void> {
    const answer = await fetch(`${this.urls[0]!}/sim/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }
}
