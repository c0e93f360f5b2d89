import { once } from "node:events";
import { WebSocket } from "ws";

/** Memory of the main thread after a garbage collection, in bytes. */
export interface CollectedMemory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
}

export interface CollectedState {
  readonly memory: CollectedMemory;
  /** Open handles, requests and timers of the main thread, by type. */
  readonly resources: Readonly<Record<string, number>>;
  /**
   * Objects on the heap by the name of their class. Functions by their own names,
   * objects without a class by their first properties; `entries of Map`, `of Set` and
   * `of Array`: elements of all of these together.
   */
  readonly objects: Readonly<Record<string, number>>;
}

interface Answer {
  readonly id?: number;
  readonly result?: { readonly result?: Remote; readonly objects?: Remote };
  readonly error?: { readonly message: string };
}

interface Remote {
  readonly objectId?: string;
  readonly value?: unknown;
}

/** The line in which a process with `--inspect` reports its URL. */
export const INSPECTOR_URL = /Debugger listening on (ws:\S+)/;

/** A process of Node.js, by its inspector. */
export class InspectedProcess {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  static async connect(url: string): Promise<InspectedProcess> {
    const socket = new WebSocket(url, { maxPayload: 2 ** 30 });
    await once(socket, "open");
    return new InspectedProcess(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as Answer;
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
    });
  }

  close(): void {
    this.#socket.terminate();
  }

  /** Collects garbage, and reads what is left. */
  async collect(): Promise<CollectedState> {
    // What finalizers release is collected by the next one.
    for (let i = 0; i < 3; i++) await this.#send("HeapProfiler.collectGarbage");
    const state = await this.#evaluate(`({
      memory: process.memoryUsage(),
      resources: (${countTexts.toString()})(process.getActiveResourcesInfo()),
    })`);
    const objects = await this.#countObjects();
    return { ...(state as Omit<CollectedState, "objects">), objects };
  }

  async #countObjects(): Promise<Record<string, number>> {
    const objectGroup = "counted";
    const { result } = await this.#send("Runtime.evaluate", {
      expression: "Object.prototype",
      objectGroup,
    });
    const found = await this.#send("Runtime.queryObjects", {
      prototypeObjectId: result?.objectId,
      objectGroup,
    });
    const counted = await this.#send("Runtime.callFunctionOn", {
      objectId: found.objects?.objectId,
      functionDeclaration: countObjects.toString(),
      returnByValue: true,
    });
    await this.#send("Runtime.releaseObjectGroup", { objectGroup });
    return counted.result?.value as Record<string, number>;
  }

  async #evaluate(expression: string): Promise<unknown> {
    const params = { expression, returnByValue: true };
    return (await this.#send("Runtime.evaluate", params)).result?.value;
  }

  async #send(
    method: string,
    params: object = {},
  ): Promise<NonNullable<Answer["result"]>> {
    const id = ++this.#lastId;
    const answer = await new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    this.#waiting.delete(id);
    if (answer.error !== undefined)
      throw new Error(`${method}: ${answer.error.message}`);
    return answer.result ?? {};
  }
}

/** Runs in the inspected process. */
function countTexts(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

/** Runs in the inspected process, with all objects as `this`. */
function countObjects(this: readonly object[]): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (name: string, count = 1) => {
    counts[name] = (counts[name] ?? 0) + count;
  };
  const ownName = (object: object): string => {
    const found: unknown = Object.getOwnPropertyDescriptor(
      object,
      "name",
    )?.value;
    return typeof found === "string" ? found : "";
  };
  for (const object of this) {
    if (typeof object === "function") {
      add(`function ${ownName(object)}`);
      continue;
    }
    const prototype = Object.getPrototypeOf(object) as object;
    const value: unknown = Object.getOwnPropertyDescriptor(
      prototype,
      "constructor",
    )?.value;
    const name = typeof value === "function" ? ownName(value) : "";
    if (name === "Object" || name === "")
      add(`{${Object.keys(object).slice(0, 4).join(", ")}}`);
    else add(name);
    if (object instanceof Map) add("entries of Map", object.size);
    else if (object instanceof Set) add("entries of Set", object.size);
    else if (Array.isArray(object)) add("entries of Array", object.length);
  }
  return counts;
}
